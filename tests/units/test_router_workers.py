"""A Router with workers: one id, an epoch for each, one unit at a time; a worker that dies takes nothing else along."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import asyncpg
import pytest

from aop.local.state import DatabaseUrls
from tests.ledger.test_check import aop
from tests.ledger.writing import breaches
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.control_plane import ScriptedControlPlane, scripted_control_plane
from tests.support.loop import agent_card
from tests.support.processes import children, is_alive
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.streaming_agent import a_whole_stream, piece, streamed, task
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience
from tests.units.processes import environment, run_to_end, status_of
from tests.units.test_stream_drain import RouterProcess, router_beside

pytestmark = pytest.mark.second_ring

FAILED, ENDED = ("failed", "DEPENDENCY_ERROR"), ("succeeded", None)


@dataclass(frozen=True)
class Around:
    """The peers that stay while Routers come and go."""

    agent: ScriptedAgent
    plane: ScriptedControlPlane
    stores: DatabaseUrls

    def router(self, workers: int, grace: int = int(PATIENCE_SECONDS)) -> AbstractAsyncContextManager[RouterProcess]:
        return router_beside(self.agent, self.plane, self.stores, grace, "--workers", str(workers))

    async def writers(self, invocations: list[str]) -> dict[str, str]:
        """The name under which each Invocation was accepted."""
        ids = [invocation.removeprefix("inv_") for invocation in invocations]
        found = "SELECT invocation_id, router_id FROM ledger.invocation WHERE invocation_id = ANY($1)"
        rows = await self.fetch(found, ids)
        return {f"inv_{row['invocation_id'].hex}": row["router_id"] for row in rows}

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        connection = await asyncpg.connect(self.stores.router)
        try:
            return list(await connection.fetch(statement, *values))
        finally:
            await connection.close()


@pytest.fixture
async def around(stores: DatabaseUrls) -> AsyncIterator[Around]:
    async with scripted_agent() as agent, scripted_control_plane(agent_card(agent)) as plane:
        yield Around(agent, plane, stores)


def get(router: RouterProcess, path: str) -> str:
    headers = {"authorization": f"Bearer {CONTROL_PLANE_TO_ROUTER}"}
    request = Request(f"http://127.0.0.1:{router.port}{path}", headers=headers)
    with urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        return str(answer.read().decode())


async def is_ready(router: RouterProcess) -> bool:
    return await asyncio.to_thread(status_of, f"http://127.0.0.1:{router.port}/readyz") == 200


def command_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")


def is_worker(pid: int, number: int) -> bool:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    places = [one.partition(b"=")[2].split() for one in variables if one.startswith(b"AOP_WORKER=")]
    return bool(places) and int(places[0][1]) == number


@pytest.mark.rows("HA-05")
async def test_a_worker_killed_under_load_takes_its_own_calls_along_and_every_epoch_is_closed_later(
    around: Around,
) -> None:
    go_on, whole = asyncio.Event(), a_whole_stream(2)
    around.agent.usual = (streamed(*whole[:2], go_on, *whole[2:]),)
    async with around.router(4) as router, AsyncExitStack() as opened:
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(24)]
        writers = await around.writers([caller.invocation_id for caller in callers])
        assert set(writers.values()) <= {f"router-1.{number}" for number in (1, 2, 3, 4)}
        assert len(set(writers.values())) > 1, "one worker took every connection"
        killed = writers[callers[0].invocation_id]
        number = int(killed.rpartition(".")[2])
        os.kill(next(pid for pid in children(router.process.pid) if is_worker(pid, number)), signal.SIGKILL)
        others = [caller for caller in callers if writers[caller.invocation_id] != killed]
        go_on.set()
        for caller in others:
            assert (await caller.whole())["type"] == "completed"
        await becomes_true(lambda: is_ready(router))
        async with router.streaming() as later:
            assert (await later.whole())["type"] == "completed"
        expected = {one: FAILED if writer == killed else ENDED for one, writer in writers.items()}
        assert await router.outcomes() == {**expected, later.invocation_id: ENDED}
    for workers in (2, 1):
        await a_start_that_leaves_streams_open(around, workers)
    ended = await aop(around.stores.router, "router", "close", "--router-id", "router-1")
    assert ended.code == 0
    found = await around.fetch("SELECT outcome FROM ledger.record")
    assert Counter(row["outcome"] for row in found)[None] == 0
    assert await breaches(around.stores.router) == []


async def a_start_that_leaves_streams_open(around: Around, workers: int) -> None:
    """The whole unit is killed; what it leaves is for the next start, which may have other workers."""
    around.agent.usual = (streamed(task(), piece(0, 0, 2), end="open"),)
    async with around.router(workers) as router, AsyncExitStack() as opened:
        assert Counter((await router.outcomes()).values())[None, None] == 0, "the start before left something open"
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(6)]
        for caller in callers:
            await caller.event("chunk")
        left = children(router.process.pid)
        router.process.kill()
        await router.process.wait()

        async def gone() -> bool:
            return not any(map(is_alive, left))

        await becomes_true(gone)


@pytest.mark.rows("HA-05")
async def test_a_second_unit_of_the_same_id_does_not_start_and_the_first_goes_on(around: Around) -> None:
    async with around.router(2) as router:
        for options in (("--workers", "2"), ()):
            second = await run_to_end("router", environment("router", around.stores), *options)
            assert (second.code, "another unit of the Router with this id runs" in second.said) == (78, True)
        await becomes_true(lambda: is_ready(router))
        assert len(children(router.process.pid)) == 2


async def test_an_id_that_a_worker_could_not_write_as_is_refused(stores: DatabaseUrls) -> None:
    for name in ("router.east", "r" * 121):
        ended = await run_to_end("router", environment("router", stores, PLATFORM_ROUTER_ID=name), "--workers", "1")
        assert (ended.code, "PLATFORM_ROUTER_ID must have no dot" in ended.said) == (78, True)
    wrong = await run_to_end("router", environment("router", stores), "--workers", "0")
    assert (wrong.code, "must be auto, or a number from 1 to 64" in wrong.said) == (2, True)


@pytest.mark.rows("HA-05")
async def test_each_worker_answers_for_all_of_them(around: Around) -> None:
    around.agent.usual = (streamed(*a_whole_stream(2)),)
    async with around.router(2) as router:
        for _ in range(8):
            async with router.streaming() as caller:
                await caller.whole()
        for _ in range(4):  # whichever worker answers
            lines = (await asyncio.to_thread(get, router, "/metrics")).splitlines()
            assert 'aop_invocations_total{code="",outcome="succeeded",reason="",unit="router"} 8.0' in lines
            assert 'aop_ready{check="topology",unit="router"} 1.0' in lines
            status = json.loads(await asyncio.to_thread(get, router, "/internal/v1/status"))
            assert (status["routerId"], status["status"], status["schemaWork"]["processes"]) == ("router-1", "ok", 2)
        frozen = children(router.process.pid)[0]
        os.kill(frozen, signal.SIGSTOP)

        async def is_told() -> bool:
            return not await is_ready(router)

        await becomes_true(is_told)
        os.kill(frozen, signal.SIGCONT)
        await becomes_true(lambda: is_ready(router))
        os.kill(frozen, signal.SIGKILL)
        await becomes_true(is_told)
        await becomes_true(lambda: is_ready(router))
        # What the dead one had counted is still counted.
        lines = (await asyncio.to_thread(get, router, "/metrics")).splitlines()
        assert 'aop_invocations_total{code="",outcome="succeeded",reason="",unit="router"} 8.0' in lines


@pytest.mark.rows("SOUND-06")
async def test_a_frozen_worker_is_replaced_and_every_invocation_ends(around: Around) -> None:
    go_on, whole = asyncio.Event(), a_whole_stream(2)
    around.agent.usual = (streamed(*whole[:2], go_on, *whole[2:]),)
    async with around.router(3) as router, AsyncExitStack() as opened:
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(12)]
        writers = await around.writers([caller.invocation_id for caller in callers])
        frozen = writers[callers[0].invocation_id]
        number = int(frozen.rpartition(".")[2])
        pid = next(pid for pid in children(router.process.pid) if is_worker(pid, number))
        os.kill(pid, signal.SIGSTOP)
        go_on.set()
        for caller in callers:
            if writers[caller.invocation_id] != frozen:
                assert (await caller.whole())["type"] == "completed"

        async def is_replaced() -> bool:
            return not is_alive(pid) and await is_ready(router)

        await becomes_true(is_replaced)
        async with router.streaming() as later:
            assert (await later.whole())["type"] == "completed"
        expected = {one: FAILED if writer == frozen else ENDED for one, writer in writers.items()}
        assert await router.outcomes() == {**expected, later.invocation_id: ENDED}
        router.process.send_signal(signal.SIGTERM)
        async with patience():
            _, said = await router.process.communicate()
        assert f"worker {number} ended (it answered nothing for 10 s)" in said.decode()


async def test_a_worker_that_keeps_crashing_ends_the_unit(around: Around) -> None:
    async with around.router(2) as router, patience():
        killed = set[int]()
        while router.process.returncode is None:
            with suppress(FileNotFoundError):  # the unit has ended, and nobody has heard of it yet
                for pid in set(children(router.process.pid)) - killed:
                    if is_worker(pid, 2):
                        killed.add(pid)
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.02)
        _, said = await router.process.communicate()
        assert (router.process.returncode, len(killed)) == (1, 6)
        assert "worker 2 ended (signal SIGKILL) after 5 restarts within a minute" in said.decode()


async def test_no_secret_is_on_the_command_line_of_a_worker(around: Around) -> None:
    async with around.router(2) as router:
        for pid in children(router.process.pid):
            assert command_of(pid)[1:] == ["-P", "-m", "aop", "router"]


@pytest.mark.rows("OPS-16")
async def test_a_drain_lets_the_calls_of_every_worker_end(around: Around) -> None:
    go_on, whole = asyncio.Event(), a_whole_stream(2)
    around.agent.usual = (streamed(*whole[:2], go_on, *whole[2:]),)
    async with around.router(3) as router, AsyncExitStack() as opened:
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(12)]
        router.process.send_signal(signal.SIGTERM)
        await becomes_true(router.is_draining)
        assert (await router.refusal())[1]["code"] == "OVERLOADED"
        go_on.set()
        assert {(await caller.whole())["type"] for caller in callers} == {"completed"}
        async with patience():
            await router.process.communicate()
        assert router.process.returncode == 0
        assert set((await router.outcomes()).values()) == {ENDED}
