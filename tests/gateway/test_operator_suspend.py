"""The operator's suspension of a Release: the provider's transition, made with access to the store."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from aop.base import assets
from aop.contracts.errors import Conflict, NotFound
from aop.control_plane.registry.releases import Releases
from aop.local.state import DatabaseUrls
from tests.gateway.test_release_transitions import TRANSITIONS, brought_to
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.publication import Json, Scene, publication_scene
from tests.support.watch import watching


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest_asyncio.fixture
async def operator(scene: Scene) -> AsyncIterator[Releases]:
    """With the login of the Control Plane and nothing else."""
    async with opened_database(scene.stores.control_plane) as database:
        yield Releases(database, scene.clock)


async def changes(scene: Scene) -> list[tuple[str, str]]:
    connection = await asyncpg.connect(scene.stores.control_plane)
    try:
        rows = await connection.fetch("SELECT release_id, state FROM registry.change ORDER BY revision")
    finally:
        await connection.close()
    return [(row["release_id"], row["state"]) for row in rows]


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-11")
@pytest.mark.parametrize("name", TRANSITIONS)
async def test_the_operator_suspends_from_the_states_from_which_the_provider_does(
    scene: Scene, operator: Releases, name: str
) -> None:
    before = await brought_to(scene, TRANSITIONS[name])
    earlier = await changes(scene)
    scene.clock.advance(1)
    if "suspend" not in TRANSITIONS[name].leads:
        with pytest.raises(Conflict):
            await operator.suspend_as_operator(before["releaseId"])
        assert (await scene.alice.release(before), await changes(scene)) == (before, earlier)
        return
    await operator.suspend_as_operator(before["releaseId"])
    after = await scene.alice.release(before)
    differing = {member for member in after if after[member] != before.get(member)}
    assert differing == {"state", "updatedAt", "suspendedAt", "suspendedBy"}
    assert (after["state"], after["suspendedBy"]) == ("suspended", "operator")
    assert await changes(scene) == [*earlier, (before["releaseId"], "suspended")]


async def published(scene: Scene) -> Json:
    return await scene.alice.move("publish", await scene.new_release())


@pytest.mark.rows("SAFE-11")
async def test_routers_hear_of_it_and_the_provider_cannot_take_it_back(scene: Scene, operator: Releases) -> None:
    release = await published(scene)
    async with watching(scene.unit.port) as watch:
        await watch.snapshot()
        await operator.suspend_as_operator(release["releaseId"])
        change = await watch.frame()
    assert (change["kind"], change["release"]["releaseId"]) == ("change", release["releaseId"])
    assert change["release"]["state"] == "suspended"
    for act in ("verify", "publish", "suspend"):
        require_error(await scene.alice.act(act, release), 409, "CONFLICT", "2")
    revoked = await scene.alice.move("revoke", release)
    assert (revoked["state"], revoked["suspendedBy"]) == ("revoked", "operator")


@pytest.mark.second_ring
async def test_who_suspended_is_for_the_owner_alone(scene: Scene, operator: Releases) -> None:
    release = await published(scene)
    share = (await scene.alice.card(release["agentId"]))["publicAgentId"]
    await operator.suspend_as_operator(release["releaseId"])
    require_error(await scene.bob.get(f"/v1/releases/{release['releaseId']}"), 403, "FORBIDDEN", "2")
    listed = await scene.alice.get(f"{scene.alice.path}/releases")
    assert [item["suspendedBy"] for item in listed.json["items"]] == ["operator"]
    public = await scene.unit.get(f"/v1/public/agents/{share}")
    assert (public.status, b"operator" in public.body, b"suspended" in public.body) == (200, False, False)


@pytest.mark.second_ring
async def test_an_unknown_release_is_not_found_and_the_gateway_has_no_such_act(
    scene: Scene, operator: Releases
) -> None:
    with pytest.raises(NotFound):
        await operator.suspend_as_operator("rel_unknown")
    release = await published(scene)
    for body in (None, {"suspendedBy": "operator"}, {"operator": True}):
        reply = await scene.bob.post(f"/v1/releases/{release['releaseId']}/suspend", body)
        require_error(reply, 403, "FORBIDDEN", "2")
    assert await scene.alice.release(release) == release
    await scene.alice.post(f"/v1/releases/{release['releaseId']}/suspend", {"suspendedBy": "operator"})
    assert (await scene.alice.release(release)).get("suspendedBy") != "operator"


@pytest.mark.rows("PUB-28")
async def test_the_store_wants_a_suspension_with_somebody_who_made_it_and_nobody_without(
    scene: Scene, postgres: PostgresForTests
) -> None:
    release = await published(scene)
    connection = await asyncpg.connect(postgres.url(scene.stores.migration.rpartition("/")[2]))
    suspended = "state = 'suspended', suspended_at = now()"
    for change in (
        suspended,
        f"{suspended}, suspended_by = 'administrator'",
        f"{suspended}, suspended_by = ''",
        "state = 'revoked', revoked_at = now(), suspended_by = 'operator'",
    ):
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute(
                f"UPDATE registry.release SET {change} WHERE release_id = $1", release["releaseId"]
            )
    await connection.close()
    assert await scene.alice.release(release) == release


@pytest.mark.second_ring
async def test_suspensions_from_before_the_column_are_the_providers(scene: Scene, postgres: PostgresForTests) -> None:
    kept = await published(scene)
    suspended = await scene.alice.move("suspend", await published(scene))
    step = (assets.folder("migrations") / "registry" / "0006_suspended_by.sql").read_text()
    statements = f"ALTER TABLE registry.release DROP COLUMN suspended_by; {step}"
    await postgres.execute(statements, scene.stores.migration.rpartition("/")[2])
    assert await scene.alice.release(suspended) == suspended
    assert await scene.alice.release(kept) == kept
