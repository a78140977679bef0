"""The topology watch: snapshot, changes in the order of commits, heartbeats, resumption, and its ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.publication import Json, Scene, publication_scene
from tests.support.waiting import generous
from tests.support.watch import seed_releases, watching

pytestmark = pytest.mark.second_ring

EMPTY = {"schemaVersion": "1", "kind": "snapshot", "revision": 0, "releases": [], "complete": True}


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


def entry(release: Json, state: str) -> Json:
    return {**{name: release[name] for name in ("agentId", "version", "releaseId", "cardDigest")}, "state": state}


async def test_an_empty_registry_gives_one_empty_complete_snapshot(scene: Scene) -> None:
    await scene.new_release()  # verified only, and therefore not covered
    await scene.alice.new_release(await scene.alice.new_binding(scene.agent.url))
    async with watching(scene.unit.port) as watch:
        headers = dict(watch.answer.headers)
        assert headers[b"content-type"] == b"text/event-stream"
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-accel-buffering"] == b"no"
        assert len(headers[b"x-platform-trace-id"]) == 32
        assert await watch.frame() == EMPTY


@pytest.mark.rows("TOP-07")
async def test_1200_releases_come_in_three_frames_of_one_revision_and_only_the_last_is_complete(scene: Scene) -> None:
    await seed_releases(scene.stores.migration, 1200)
    async with watching(scene.unit.port) as watch:
        frames = await watch.snapshot()
    assert [len(frame["releases"]) for frame in frames] == [500, 500, 200]
    assert [frame["complete"] for frame in frames] == [False, False, True]
    assert {frame["revision"] for frame in frames} == {1200}
    assert len({each["releaseId"] for frame in frames for each in frame["releases"]}) == 1200


async def test_exactly_500_releases_are_one_frame(scene: Scene) -> None:
    await seed_releases(scene.stores.migration, 500)
    async with watching(scene.unit.port) as watch:
        (frame,) = await watch.snapshot()
    assert (len(frame["releases"]), frame["complete"]) == (500, True)


async def test_every_transition_is_a_change_and_a_later_snapshot_agrees(scene: Scene) -> None:
    alice = scene.alice
    async with watching(scene.unit.port) as watch:
        assert await watch.frame() == EMPTY
        first, second, third = [await scene.new_release() for _ in range(3)]
        steps: list[tuple[Callable[[], Awaitable[Json]], Json, str]] = [
            (lambda: alice.move("publish", first), first, "published"),
            (lambda: alice.move("suspend", first), first, "suspended"),
            (lambda: alice.disable(first["agentId"]), first, "suspended"),
            (lambda: alice.move("revoke", first), first, "revoked"),
            (lambda: alice.disable(second["agentId"]), second, "disabled"),
            (lambda: alice.move("suspend", second), second, "suspended"),
            (lambda: alice.move("publish", third), third, "published"),
            (lambda: alice.disable(third["agentId"]), third, "disabled"),
        ]
        for number, (step, release, state) in enumerate(steps, start=1):
            await step()
            change = await watch.change()
            assert change == {
                "schemaVersion": "1",
                "kind": "change",
                "revision": number,
                "release": entry(release, state),
            }
        await alice.disable(third["agentId"])  # repeated: changes nothing, says nothing
        fourth = await alice.new_binding(scene.agent.url, "acme:late")
        await alice.disable("acme:late")
        late = await alice.new_release(fourth)
        assert (await watch.change())["release"] == entry(late, "disabled")
    async with watching(scene.unit.port) as watch:
        (snapshot,) = await watch.snapshot()
    assert snapshot["revision"] == 9
    seen = {each["releaseId"]: each for each in snapshot["releases"]}
    expected = [entry(first, "revoked"), entry(second, "suspended"), entry(third, "disabled"), entry(late, "disabled")]
    assert seen == {each["releaseId"]: each for each in expected}


@pytest.mark.rows("TOP-06")
async def test_a_known_revision_resumes_with_only_the_later_changes(scene: Scene) -> None:
    releases = [await scene.new_release() for _ in range(3)]
    for release in releases:
        await scene.alice.move("publish", release)
    for after in (0, 1, 2):
        async with watching(scene.unit.port, after) as watch:
            changes = [await watch.change() for _ in range(3 - after)]
            assert [change["revision"] for change in changes] == list(range(after + 1, 4))
            assert [change["release"] for change in changes] == [entry(each, "published") for each in releases[after:]]
    async with watching(scene.unit.port, 3) as watch:
        # Nothing is behind it, and the reader learns at once that it is live.
        assert await watch.frame(generous(0.5)) == {"schemaVersion": "1", "kind": "heartbeat", "revision": 3}
        await scene.alice.move("suspend", releases[0])
        assert (await watch.change())["revision"] == 4


@pytest.mark.rows("TOP-06")
@pytest.mark.parametrize("after", [1, 7, 10**17])
async def test_an_unknown_revision_gives_a_full_snapshot(scene: Scene, after: int) -> None:
    async with watching(scene.unit.port, after) as watch:
        assert await watch.frame() == EMPTY


async def test_a_long_backlog_comes_whole_and_in_order(scene: Scene) -> None:
    await seed_releases(scene.stores.migration, 1200)
    async with watching(scene.unit.port, 10) as watch:
        assert [(await watch.change())["revision"] for _ in range(1190)] == list(range(11, 1201))


async def test_a_heartbeat_comes_at_least_every_5_seconds_with_the_revision_last_sent(scene: Scene) -> None:
    release = await scene.new_release()
    loop = asyncio.get_running_loop()
    async with watching(scene.unit.port) as watch:
        await watch.snapshot()
        snapshot_at = loop.time()
        await scene.alice.move("publish", release)
        assert (await watch.frame())["kind"] == "change"
        assert await watch.frame() == {"schemaVersion": "1", "kind": "heartbeat", "revision": 1}
        assert loop.time() - snapshot_at < generous(5)


@pytest.mark.rows("TOP-07")
async def test_changes_come_in_commit_order_under_fifty_concurrent_transitions(scene: Scene) -> None:
    releases = [await scene.new_release() for _ in range(50)]
    for release in releases[:25]:
        await scene.alice.move("publish", release)
    async with AsyncExitStack() as open_watches:
        early = [await open_watches.enter_async_context(watching(scene.unit.port)) for _ in range(3)]
        for watch in early:
            assert (await watch.snapshot())[0]["revision"] == 25
        acts = [partial(scene.alice.act, "suspend", release) for release in releases[:25]]
        acts += [partial(scene.alice.act, "publish", release) for release in releases[25:]]
        late = asyncio.create_task(_opened_in_between(open_watches, scene))
        assert {reply.status for reply in await all_answered(acts)} == {200}
        for watch in early:
            changes = [await watch.change() for _ in range(50)]
            assert [change["revision"] for change in changes] == list(range(26, 76))
            assert _states(changes) == _expected(releases)
        assert sorted((await late).values()) == ["published"] * 25 + ["suspended"] * 25


async def _opened_in_between(stack: AsyncExitStack, scene: Scene) -> dict[str, str]:
    """A watch that begins in the middle: its snapshot and its changes together tell the whole state."""
    watch = await stack.enter_async_context(watching(scene.unit.port))
    frames = await watch.snapshot()
    state = {each["releaseId"]: each["state"] for frame in frames for each in frame["releases"]}
    revision = frames[-1]["revision"]
    while revision < 75:
        change = await watch.change()
        assert change["revision"] == revision + 1
        revision = change["revision"]
        state[change["release"]["releaseId"]] = change["release"]["state"]
    return state


def _states(changes: list[Json]) -> dict[str, str]:
    return {change["release"]["releaseId"]: change["release"]["state"] for change in changes}


def _expected(releases: list[Json]) -> dict[str, str]:
    return {each["releaseId"]: "suspended" if index < 25 else "published" for index, each in enumerate(releases)}
