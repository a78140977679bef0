"""Of several faults of a question, the first in the order of checks is told."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import combinations

import pytest

from aop.base.clock import utc_now
from aop.contracts.errors import ErrorCode, Refusal
from aop.contracts.publication import ReleaseState
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import MAX_KEPT, InstallationStates
from aop.local.state import DatabaseUrls
from tests.gateway.resolving import Scene, a_scene, decided
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner, Rows

Fault = Callable[[Scene], Awaitable[None]]


async def _uninstalled(scene: Scene) -> None:
    await scene.owner.uninstall(scene.installation_id, scene.space)


async def _disabled(scene: Scene) -> None:
    await scene.owner.set_status(scene.installation_id, "disabled", scene.space)


async def _disagreeing(scene: Scene) -> None:
    await scene.rows.execute(
        "ALTER TABLE registry.release DISABLE TRIGGER release_immutable",
        f"UPDATE registry.release SET card_digest = repeat('0', 64) WHERE release_id = '{scene.release.release_id}'",
        "ALTER TABLE registry.release ENABLE ALWAYS TRIGGER release_immutable",
    )


async def _suspended(scene: Scene) -> None:
    await scene.move(ReleaseState.SUSPENDED)


async def _revoked(scene: Scene) -> None:
    await scene.move(ReleaseState.REVOKED)


async def _card_disabled(scene: Scene) -> None:
    await scene.catalog.disable(scene.card)


def _asking(**members: str) -> Fault:
    async def change(scene: Scene) -> None:
        scene.changes |= members

    return change


# In the order of contract 9.2: of two faults the one further up is told.
FAULTS: dict[str, tuple[Fault, int, str]] = {
    "no such Workspace": (_asking(workspaceId="nowhere"), 404, "NOT_FOUND"),
    "uninstalled": (_uninstalled, 404, "AGENT_NOT_INSTALLED"),
    "another version": (_asking(version="9.9.9"), 404, "AGENT_NOT_INSTALLED"),
    "disabled": (_disabled, 409, "INSTALLATION_DISABLED"),
    "facts disagree": (_disagreeing, 503, "DEPENDENCY_ERROR"),
    "revoked": (_revoked, 409, "AGENT_RELEASE_REVOKED"),
    "suspended": (_suspended, 409, "AGENT_RELEASE_SUSPENDED"),
    "Card disabled": (_card_disabled, 409, "AGENT_DISABLED"),
    "no such Skill": (_asking(capability="unknown"), 403, "CAPABILITY_NOT_ALLOWED"),
    "permission missing": (_asking(capability="send"), 403, "CAPABILITY_NOT_ALLOWED"),
}


@pytest.mark.rows("INV-08", "INV-09")
async def test_of_two_faults_the_first_in_the_order_of_checks_is_told(
    gateway: RunningUnit, alice: str, catalog: Catalog, postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    owner, rows = Owner(gateway, alice), Rows(postgres, stores)
    authorization = Authorization(InstallationStates(catalog.database, utc_now), Pins(catalog.database))
    for number, (first, second) in enumerate(combinations(FAULTS, 2)):
        async with a_scene(owner, catalog, rows, f"space-{number}") as scene:
            for name in (second, first):  # what is uninstalled can no more be disabled
                await FAULTS[name][0](scene)
            _, status, code = FAULTS[first]
            require_error(await scene.resolve(), status, code, "3")
            access = _access(scene)
            with pytest.raises(Refusal) as refused:
                await decided(authorization, "alice", access)
            assert refused.value.code == code, (first, second)
            with pytest.raises(Refusal) as foreign:
                await decided(authorization, "bob", access)
            expected = ErrorCode.NOT_FOUND if first == "no such Workspace" else ErrorCode.FORBIDDEN
            assert foreign.value.code == expected, (first, second)


@pytest.mark.rows("INV-08", "INV-09")
async def test_a_fault_is_told_to_the_next_call_whatever_the_calls_before_it_found(
    gateway: RunningUnit, alice: str, catalog: Catalog, postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    owner, rows = Owner(gateway, alice), Rows(postgres, stores)
    authorization = Authorization(InstallationStates(catalog.database, utc_now), Pins(catalog.database))
    for number, (fault, _, code) in enumerate(FAULTS.values()):
        async with a_scene(owner, catalog, rows, f"seen-{number}") as scene:
            access = _access(scene)
            found = [await decided(authorization, "alice", access) for _ in range(2)]
            assert [one.pin.version for one in found] == [access.version] * 2
            await fault(scene)
            with pytest.raises(Refusal) as refused:
                await decided(authorization, "alice", _access(scene))
            assert refused.value.code == code


async def test_what_calls_found_is_kept_for_so_many_of_them_alone(
    gateway: RunningUnit, alice: str, catalog: Catalog, postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    states = InstallationStates(catalog.database, utc_now)
    async with a_scene(Owner(gateway, alice), catalog, Rows(postgres, stores), "kept") as scene:
        access = _access(scene)
        first = await states.read(access.workspace_id, access.agent_id, "alice")
        assert first is not None
        assert await states.read(access.workspace_id, access.agent_id, "alice") is first
        others = (
            states.read(access.workspace_id, f"com.example.other-{number}", "alice") for number in range(MAX_KEPT)
        )
        assert None not in await asyncio.gather(*others)
        assert await states.read(access.workspace_id, access.agent_id, "alice") is not first
    await states.close()


def _access(scene: Scene) -> AccessRequest:
    question = scene.question()
    return AccessRequest(question["workspaceId"], question["agentId"], question["capability"], question["version"])
