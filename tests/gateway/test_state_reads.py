"""The reads behind an authorization: planned once, and of what can change nothing is left out."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aop.base.clock import utc_now
from aop.contracts.errors import ErrorCode, Refusal
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import InstallationStates
from aop.local.state import DatabaseUrls
from tests.gateway.resolving import Scene, a_scene, decided
from tests.support.catalog import Catalog
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner, Rows


@pytest_asyncio.fixture
async def scene(
    gateway: RunningUnit, alice: str, catalog: Catalog, postgres: PostgresForTests, stores: DatabaseUrls
) -> AsyncIterator[Scene]:
    async with a_scene(Owner(gateway, alice), catalog, Rows(postgres, stores)) as scene:
        yield scene


@pytest.mark.parametrize(
    ("query", "calls", "principal"),
    [
        ("SELECT CASE WHEN workspace.owner_id%", 12, "stranger"),
        ("SELECT installation.installation_id%", 13, "alice"),
        ("SELECT installation.installation_id%", 13, "bob"),
    ],
)
async def test_the_statement_of_an_authorization_is_planned_once_and_not_for_every_call(
    scene: Scene, stores: DatabaseUrls, query: str, calls: int, principal: str
) -> None:
    await scene.owner.add_caller("bob", scene.space)
    async with opened_database(stores.control_plane) as database:
        states = InstallationStates(database, utc_now)
        for _ in range(calls):
            assert await states.read(scene.space, scene.card["agentId"], principal) is not None
        async with database.connection() as connection:
            plans = await connection.fetch(
                "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE $1", query
            )
        # PostgreSQL tries five plans before it keeps one.
        assert [tuple(row) for row in plans] == [(7, 5)]


@pytest.mark.rows("INV-09")
async def test_who_may_call_is_read_for_every_call_and_so_is_what_a_replacement_installed(
    scene: Scene, stores: DatabaseUrls
) -> None:
    owner = scene.owner
    async with opened_database(stores.control_plane, size=4) as database:  # with one that is kept
        states = InstallationStates(database, utc_now)
        authorization = Authorization(states, Pins(database))
        access = AccessRequest(scene.space, scene.card["agentId"], "summarize")
        greeting = AccessRequest(scene.space, scene.card["agentId"], "greet")  # needs no permission
        for _ in range(2):
            await owner.add_caller("bob", scene.space)
            found = [await decided(authorization, "bob", access) for _ in range(3)]
            assert [one.pin.version for one in found] == ["1.2.0"] * 3
            await owner.remove_caller("bob", scene.space)
            with pytest.raises(Refusal) as refused:
                await decided(authorization, "bob", access)
            assert refused.value.code is ErrorCode.FORBIDDEN
        for permissions in ((), ("documents.read",)):
            before = await decided(authorization, "alice", greeting)
            await owner.uninstall(before.installation_id, scene.space)
            installed = await owner.install(access.agent_id, accepted=permissions, space=scene.space)
            found = [await decided(authorization, "alice", greeting) for _ in range(3)]
            assert {one.installation_id for one in found} == {installed["installationId"]}
            assert {one.accepted_permissions for one in found} == {permissions}
        await states.close()
