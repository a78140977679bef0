"""How an Installation is disabled, enabled, uninstalled and installed again, one call at a time and all at once."""

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial

import pytest

from aop.control_plane.app import ControlPlaneEnvironment, build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.settings import control_plane_environment
from tests.support.units import Reply, running
from tests.support.workspaces import Owner, Rows, a_release, taken

BROKEN_UPDATES: list[object] = [
    {},
    {"status": "uninstalled"},
    {"status": "paused"},
    {"status": None},
    {"status": "Disabled"},
    {"status": "disabled", "acceptedPermissions": []},
    {"status": ["disabled"]},
    b"",
    b"[]",
]


@pytest.mark.rows("WS-16")
async def test_an_installation_is_disabled_and_enabled_again(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    seen = [await owner.install()]
    for status in ("disabled", "enabled", "disabled"):
        seen.append(taken(await owner.set_status(seen[0]["installationId"], status), 200, "installation/2"))
        assert seen[-1] == {**seen[0], "status": status, "updatedAt": seen[-1]["updatedAt"]}
    times = [item["updatedAt"] for item in seen]
    assert times == sorted(set(times))


@pytest.mark.rows("WS-16", "WS-18")
async def test_time_moves_forward_by_a_microsecond_when_the_clock_stands_still(
    stores: DatabaseUrls, catalog: Catalog, alice: str
) -> None:
    await a_release(catalog)
    current = [datetime(2020, 1, 1, 0, 0, 0, 999_999, UTC)]
    settings = read_control_plane_settings(control_plane_environment(PLATFORM_DATABASE_URL=stores.control_plane))
    async with running(lambda: build(settings, ControlPlaneEnvironment(clock=lambda: current[0]))) as unit:
        owner = Owner(unit, alice)
        await owner.workspace()
        installed = await owner.install()
        current[0] = datetime(2019, 1, 1, tzinfo=UTC)
        times = [installed["updatedAt"]]
        for status in ("disabled", "enabled"):
            times.append((await owner.set_status(installed["installationId"], status)).json["updatedAt"])
        ended = taken(await owner.uninstall(installed["installationId"]), 200, "installation/2")
    assert [*times, ended["updatedAt"]] == [
        "2020-01-01T00:00:00.999999Z",
        "2020-01-01T00:00:01.000000Z",
        "2020-01-01T00:00:01.000001Z",
        "2020-01-01T00:00:01.000002Z",
    ]
    assert ended["uninstalledAt"] == ended["updatedAt"]


@pytest.mark.rows("WS-17")
async def test_an_update_that_breaks_the_contract_changes_nothing(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    installed = await owner.install()
    path = f"/space/installations/{installed['installationId']}"
    for body in BROKEN_UPDATES:
        require_error(await owner.ask("PATCH", path, body), 400, "VALIDATION_ERROR", "3")
    assert await owner.installation(installed["installationId"]) == installed


@pytest.mark.rows("WS-17", "WS-18")
async def test_the_same_state_again_and_an_uninstalled_record_are_conflicts(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    installation_id = (await owner.install())["installationId"]
    require_error(await owner.set_status(installation_id, "enabled"), 409, "CONFLICT", "3")
    taken(await owner.set_status(installation_id, "disabled"), 200, "installation/2")
    require_error(await owner.set_status(installation_id, "disabled"), 409, "CONFLICT", "3")
    ended = taken(await owner.uninstall(installation_id), 200, "installation/2")
    for status in ("enabled", "disabled"):
        require_error(await owner.set_status(installation_id, status), 409, "CONFLICT", "3")
    require_error(await owner.uninstall(installation_id), 409, "CONFLICT", "3")
    assert await owner.installation(installation_id) == ended


@pytest.mark.rows("WS-18")
@pytest.mark.parametrize("disabled_first", [False, True])
async def test_uninstalling_preserves_the_record(owner: Owner, catalog: Catalog, disabled_first: bool) -> None:
    await a_release(catalog)
    before = await owner.install()
    if disabled_first:
        before = (await owner.set_status(before["installationId"], "disabled")).json
    ended = taken(await owner.uninstall(before["installationId"]), 200, "installation/2")
    assert ended["uninstalledAt"] == ended["updatedAt"] > before["updatedAt"]
    assert ended == {
        **before, "status": "uninstalled", "updatedAt": ended["updatedAt"], "uninstalledAt": ended["updatedAt"]
    }  # fmt: skip


@pytest.mark.rows("WS-19")
async def test_installing_again_makes_a_new_record_beside_the_old_one(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    old_id = (await owner.install())["installationId"]
    await owner.uninstall(old_id)
    old = (await owner.ask("GET", f"/space/installations/{old_id}")).body
    new = await owner.install()
    assert new["installationId"] != old_id
    assert (await owner.ask("GET", f"/space/installations/{old_id}")).body == old
    await owner.set_status(new["installationId"], "disabled")
    await owner.uninstall(new["installationId"])
    assert (await owner.ask("GET", f"/space/installations/{old_id}")).body == old


@pytest.mark.rows("WS-19")
async def test_a_hundred_mixed_calls_leave_one_current_record_at_most_and_all_history(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    await a_release(catalog)
    chance = random.Random(7)
    installation_id = (await owner.install())["installationId"]
    made, ended = {installation_id}, dict[str, bytes]()
    for _ in range(4):
        acts: list[Callable[[], Awaitable[Reply]]] = [
            owner.try_install,
            partial(owner.set_status, installation_id, "disabled"),
            partial(owner.set_status, installation_id, "enabled"),
            partial(owner.uninstall, installation_id),
        ]
        replies = await all_answered(chance.choice(acts) for _ in range(25))
        assert {reply.status for reply in replies} <= {200, 201, 409}
        made.update(reply.json["installationId"] for reply in replies if reply.status == 201)
        stored = {row["installation_id"]: row["status"] for row in await rows.installations()}
        current = [known for known, status in stored.items() if status != "uninstalled"]
        assert (set(stored), len(current) <= 1) == (made, True)
        for known in made.difference(current):
            body = (await owner.ask("GET", f"/space/installations/{known}")).body
            assert ended.setdefault(known, body) == body
        installation_id = current[0] if current else (await owner.install())["installationId"]
        made.add(installation_id)
    assert len(ended) >= 2
