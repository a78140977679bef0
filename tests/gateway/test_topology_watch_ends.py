"""The topology watch at its ends: who is refused, what a lost wake-up or a slow reader costs, and how it stops."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from aop.net.http import TransferBroken
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.publication import Scene, publication_scene
from tests.support.settings import ROUTER_TO_CONTROL_PLANE
from tests.support.units import Reply
from tests.support.waiting import becomes_true, generous, promptly
from tests.support.watch import WATCH, seed_releases, watching
from tests.units.processes import environment, served

pytestmark = pytest.mark.second_ring

LISTENERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE application_name = 'aop control-plane changes' AND datname = current_database()"
)


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


async def ask(scene: Scene, query: str = "", token: str | None = ROUTER_TO_CONTROL_PLANE, method: str = "GET") -> Reply:
    return await scene.unit.ask(method, WATCH + query, token=token)


@pytest.mark.rows("TOP-08")
async def test_a_missing_token_is_401_and_an_unknown_one_403(scene: Scene) -> None:
    require_error(await ask(scene, token=None), 401, "UNAUTHENTICATED", "4")
    require_error(await ask(scene, token="unknown-service-token"), 403, "FORBIDDEN", "4")
    require_error(await ask(scene, token=scene.alice.token), 403, "FORBIDDEN", "4")  # a caller is no unit
    require_error(await ask(scene, "?after=x", token=None), 401, "UNAUTHENTICATED", "4")


@pytest.mark.parametrize(
    ("query", "pointer", "rule"),
    [
        *((f"?after={text}", "/after", "query_value") for text in ("-1", "1.0", "x", "", "+1", "%31%20", "٣", "1e3")),
        ("?after=1&after=1", "/after", "query_repeated"),
        ("?since=1", "", "query_unknown"),
    ],
)
async def test_a_revision_that_is_no_plain_number_is_refused(scene: Scene, query: str, pointer: str, rule: str) -> None:
    reply = await ask(scene, query.replace("٣", "%D9%A3"))
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert reply.json["violations"] == [{"pointer": pointer, "rule": rule}]


async def test_head_is_not_offered(scene: Scene) -> None:
    for method in ("HEAD", "POST", "OPTIONS"):
        reply = await ask(scene, method=method)
        assert (reply.status, reply.header("allow"), reply.body) == (405, "GET", b"")


async def test_a_dead_store_is_a_dependency_error_before_the_stream_and_ends_a_running_one(
    scene: Scene, postgres: PostgresForTests
) -> None:
    async with watching(scene.unit.port) as watch:
        await watch.snapshot()
        await postgres.drop(scene.stores.migration.rpartition("/")[2])
        with pytest.raises(TransferBroken):
            await watch.frame()
    require_error(await ask(scene), 503, "DEPENDENCY_ERROR", "4")
    require_error(await ask(scene, "?after=0"), 503, "DEPENDENCY_ERROR", "4")


async def test_a_snapshot_that_cannot_be_read_is_a_dependency_error(scene: Scene, postgres: PostgresForTests) -> None:
    database = scene.stores.migration.rpartition("/")[2]
    await postgres.execute("ALTER VIEW registry.watched_release RENAME TO gone", database)
    require_error(await ask(scene), 503, "DEPENDENCY_ERROR", "4")


async def test_every_change_arrives_within_2_seconds_although_the_wake_up_connection_was_killed(
    scene: Scene, postgres: PostgresForTests
) -> None:
    releases = [await scene.new_release() for _ in range(6)]
    superuser = await asyncpg.connect(postgres.url(scene.stores.migration.rpartition("/")[2]))
    async with watching(scene.unit.port) as watch:
        await watch.snapshot()
        for number, release in enumerate(releases, start=1):
            killed = await superuser.fetch(LISTENERS)
            assert len(killed) <= 1
            await scene.alice.move("publish", release)
            assert (await watch.change(generous(0.7)))["revision"] == number  # 2 s where nothing else runs
            await asyncio.sleep(0.3 * (number % 2))

        async def listens_again() -> bool:
            return bool(await superuser.fetch(LISTENERS.replace("pg_terminate_backend(pid)", "pid")))

        await becomes_true(listens_again)
    await superuser.close()


async def stalled(port: int, count: int, stack: AsyncExitStack) -> Sequence[socket.socket]:
    """Readers that ask for the watch, take the first bytes and then read nothing more."""
    loop = asyncio.get_running_loop()
    request = f"GET {WATCH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ROUTER_TO_CONTROL_PLANE}\r\n\r\n".encode()
    sockets = []
    for _ in range(count):
        sock = stack.enter_context(socket.socket())
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", port))
        await loop.sock_sendall(sock, request)
        sockets.append(sock)
    return [sock for sock in sockets if (await loop.sock_recv(sock, 64)).startswith(b"HTTP/1.1 200")]


async def test_slow_readers_harm_neither_other_watchers_nor_calls(stores: DatabaseUrls) -> None:
    await seed_releases(stores.migration, 5000)
    async with (
        publication_scene(stores, PLATFORM_DATABASE_POOL_SIZE="8") as scene,
        watching(scene.unit.port) as watch,
        AsyncExitStack() as stack,
    ):
        await watch.snapshot()
        release = await scene.new_release()
        held = await stalled(scene.unit.port, 8, stack)
        assert len(held) == 2  # a quarter of the pool; the others were told to come again
        require_error(await ask(scene), 503, "OVERLOADED", "4")
        calls = [scene.alice.get(f"/v1/releases/{release['releaseId']}") for _ in range(40)]
        assert {reply.status for reply in await asyncio.gather(*calls)} == {200}
        await scene.alice.move("publish", release)
        assert (await watch.change(generous(0.7)))["revision"] == 5001
        async with watching(scene.unit.port, 5000) as resumed:
            assert (await resumed.change(generous(0.7)))["revision"] == 5001
        await stack.aclose()
        await becomes_true(lambda: _has_room(scene))


@pytest.mark.long
async def test_a_reader_that_takes_nothing_is_cut_off_within_seconds_and_gives_its_place_back(
    stores: DatabaseUrls,
) -> None:
    await seed_releases(stores.migration, 5000)
    async with publication_scene(stores, PLATFORM_DATABASE_POOL_SIZE="4") as scene, AsyncExitStack() as stack:
        assert len(await stalled(scene.unit.port, 1, stack)) == 1
        assert not await _has_room(scene)
        await becomes_true(lambda: _has_room(scene))


async def _has_room(scene: Scene) -> bool:
    """Whether another snapshot is given, which is then a whole one."""
    try:
        async with watching(scene.unit.port) as watch:
            return len(await watch.snapshot()) >= 10
    except AssertionError:
        return False


async def test_a_watch_that_its_reader_leaves_leaves_nothing_behind(scene: Scene) -> None:
    for _ in range(30):
        async with watching(scene.unit.port) as watch:
            await watch.snapshot()

    async def nothing_runs() -> bool:
        return scene.unit.server.request_count == 0

    await becomes_true(nothing_runs)


async def test_a_drain_ends_every_watch_at_once_with_whole_frames_and_refuses_new_ones(scene: Scene) -> None:
    async with AsyncExitStack() as stack:
        watches = [await stack.enter_async_context(watching(scene.unit.port)) for _ in range(10)]
        for watch in watches:
            await watch.snapshot()
        scene.unit.unit.end_watches()
        for watch in watches:
            await watch.ended(generous(0.5))
    require_error(await ask(scene), 503, "OVERLOADED", "4")


async def test_sigterm_ends_a_process_with_open_watches_in_well_under_2_seconds(stores: DatabaseUrls) -> None:
    settings = environment("control-plane", stores)
    async with served("control-plane", settings) as (process, origin), AsyncExitStack() as stack:
        port = int(origin.rpartition(":")[2])
        watches = [await stack.enter_async_context(watching(port)) for _ in range(3)]
        for watch in watches:
            await watch.snapshot()
        process.send_signal(signal.SIGTERM)
        async with promptly(1.5):
            for watch in watches:
                await watch.ended()
            await process.wait()
        assert process.returncode == 0
