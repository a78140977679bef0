"""A Router process told to end while streams are open: some end in time, the rest are recorded and told."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from tests.loop.test_overload import locked
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.control_plane import ScriptedControlPlane, scripted_control_plane
from tests.support.locks import waiting_for_a_lock
from tests.support.loop import agent_card, allowed_hosts
from tests.support.postgres import PostgresForTests
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.stream import EVENT_STREAM, StreamCaller, calling
from tests.support.streaming_agent import a_whole_stream, piece, status, streamed, task
from tests.support.waiting import becomes_true, generous, patience
from tests.units.processes import status_of

PATH = "/internal/v1/invocations"
TOKEN = (b"authorization", f"Bearer {CONTROL_PLANE_TO_ROUTER}".encode())


@dataclass(frozen=True)
class RouterProcess:
    process: asyncio.subprocess.Process
    port: int
    plane: ScriptedControlPlane
    agent: ScriptedAgent
    stores: DatabaseUrls

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[StreamCaller]:
        body = json.dumps(self.plane.dispatch(stream=True)).encode()
        async with calling(self.port, PATH, body, (TOKEN, EVENT_STREAM)) as caller:
            await caller.head()
            assert caller.status == 200, await caller.text()
            await caller.event("accepted")
            yield caller

    async def outcomes(self) -> dict[str, tuple[str | None, str | None]]:
        connection = await asyncpg.connect(self.stores.router)
        try:
            rows = await connection.fetch("SELECT invocation_id, outcome, error_code FROM ledger.record")
        finally:
            await connection.close()
        return {f"inv_{row['invocation_id'].hex}": (row["outcome"], row["error_code"]) for row in rows}

    async def is_draining(self) -> bool:
        return await asyncio.to_thread(status_of, f"http://127.0.0.1:{self.port}/readyz") == 503

    async def refusal(self) -> tuple[int, Any]:
        body = json.dumps(self.plane.dispatch(stream=True)).encode()
        async with calling(self.port, PATH, body, (TOKEN, EVENT_STREAM)) as caller:
            await caller.head()
            return caller.status, json.loads(await caller.text())

    async def ended(self, seconds: float) -> str:
        async with asyncio.timeout(seconds):
            _, said = await self.process.communicate()
        return said.decode()


@asynccontextmanager
async def router_process(stores: DatabaseUrls, grace: int) -> AsyncIterator[RouterProcess]:
    async with (
        scripted_agent() as agent,
        scripted_control_plane(agent_card(agent)) as plane,
        router_beside(agent, plane, stores, grace) as router,
    ):
        yield router


@asynccontextmanager
async def router_beside(
    agent: ScriptedAgent, plane: ScriptedControlPlane, stores: DatabaseUrls, grace: int, *options: str
) -> AsyncIterator[RouterProcess]:
    port = any_free_port()
    settings = router_environment(
        PLATFORM_ROUTER_LISTEN_ADDRESS=f"127.0.0.1:{port}",
        PLATFORM_ROUTER_DATABASE_URL=stores.router,
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=plane.origin,
        PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed_hosts(agent),
        PLATFORM_SHUTDOWN_GRACE_SECONDS=str(grace),
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aop", "router", *options),
        env={**settings, "PATH": os.defpath},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with patience():
            while await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/readyz") != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield RouterProcess(process, port, plane, agent, stores)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.mark.second_ring
@pytest.mark.rows("OPS-16", "REAS-01")
async def test_sigterm_with_two_hundred_open_streams_ends_each_of_them_once(stores: DatabaseUrls) -> None:
    async with router_process(stores, 1) as router, AsyncExitStack() as opened:
        router.agent.usual = (streamed(task(), piece(0, 0, 2), end="open"),)
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(200)]
        for caller in callers:
            await caller.event("chunk")
        router.process.send_signal(signal.SIGTERM)
        terminals = await asyncio.gather(*(caller.whole() for caller in callers))
        said = await router.ended(generous(10))
        assert router.process.returncode == 0, said
        assert {terminal["error"]["code"] for terminal in terminals} == {"DEPENDENCY_ERROR"}
        assert {terminal["error"].get("reason") for terminal in terminals} == {"router_restarted"}
        expected = {caller.invocation_id: ("failed", "DEPENDENCY_ERROR") for caller in callers}
        assert await router.outcomes() == expected
        # Each cancel has one try of one second, which a busy Agent may miss.
        proper = (["message/stream"], ["message/stream", "tasks/cancel"])
        assert all(router.agent.methods(caller.invocation_id) in proper for caller in callers)
        assert "unit.stopped" in said
        assert '"level":"error"' not in said


@pytest.mark.second_ring
@pytest.mark.rows("OPS-11")
async def test_a_drain_refuses_new_work_lets_calls_end_in_time_and_records_the_rest(stores: DatabaseUrls) -> None:
    async with router_process(stores, round(generous(0.6))) as router:
        go_on = asyncio.Event()
        whole = a_whole_stream(2)
        router.agent.script(streamed(*whole[:2], go_on, *whole[2:]))
        router.agent.script(streamed(task(), status("working"), end="open"))
        async with router.streaming() as timely, router.streaming() as late:
            await timely.event("chunk")
            router.process.send_signal(signal.SIGTERM)
            await becomes_true(router.is_draining)
            code, error = await router.refusal()
            assert (code, error["code"]) == (503, "OVERLOADED")
            go_on.set()
            assert (await timely.whole())["type"] == "completed"
            assert (await late.whole())["error"]["code"] == "DEPENDENCY_ERROR"
            await router.ended(generous(10))
        assert router.process.returncode == 0
        assert router.agent.methods(late.invocation_id) == ["message/stream", "tasks/cancel"]
        assert await router.outcomes() == {
            timely.invocation_id: ("succeeded", None),
            late.invocation_id: ("failed", "DEPENDENCY_ERROR"),
        }


@pytest.mark.second_ring
@pytest.mark.rows("OPS-16")
async def test_readers_who_stall_or_leave_while_the_router_ends_leave_no_orphan(stores: DatabaseUrls) -> None:
    async with router_process(stores, 0) as router, AsyncExitStack() as opened:
        router.agent.usual = (streamed(task(), piece("x" * 400_000, 0, 2), end="open"),)
        callers = [await opened.enter_async_context(router.streaming()) for _ in range(20)]
        router.process.send_signal(signal.SIGTERM)
        for caller in callers[:10]:
            caller.leave()
        await router.ended(generous(10))
        assert router.process.returncode == 0
        outcomes = await router.outcomes()
        assert len(outcomes) == 20
        assert all(
            outcome in {("failed", "DEPENDENCY_ERROR"), ("canceled", "CANCELED")} for outcome in outcomes.values()
        )


@pytest.mark.rows("OPS-16")
async def test_an_acceptance_under_way_when_the_grace_is_over_ends_at_once(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with router_process(stores, 0) as router, AsyncExitStack() as opened:
        body = json.dumps(router.plane.dispatch(stream=True)).encode()
        async with locked(postgres, stores, "ledger.invocation"):
            caller = await opened.enter_async_context(calling(router.port, PATH, body, (TOKEN, EVENT_STREAM)))
            await waiting_for_a_lock(postgres, stores)
            router.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.3)
        await caller.head()
        assert (await caller.whole())["error"]["code"] == "DEPENDENCY_ERROR"
        await router.ended(generous(10))
        assert router.process.returncode == 0
        assert await router.outcomes() == {caller.invocation_id: ("failed", "DEPENDENCY_ERROR")}
        assert router.agent.received == []
