"""The frames of a watch at the Router: a snapshot counts when whole, and what cannot be loses the source."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from aop.base.clock import utc_now
from aop.local.state import DatabaseUrls
from aop.router.app import build
from aop.router.settings import read_router_settings
from aop.router.targets.topology import Topology
from aop.router.targets.topology_watch import read_event
from tests.support.loop import STATUS
from tests.support.peers import Received, listening
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.units import RunningUnit, running
from tests.support.waiting import becomes_true, patience

RELEASE = "rel_0190f5c0113c7a219b8c7d6e5f4000{:02x}"


def entry(number: int, state: str = "published") -> dict[str, Any]:
    named = {"agentId": f"agent-{number}", "version": "1.0.0", "releaseId": RELEASE.format(number)}
    return {**named, "cardDigest": "0" * 64, "state": state}


def frame(kind: str, revision: float, **members: Any) -> bytes:
    content = json.dumps({"schemaVersion": "1", "kind": kind, "revision": revision, **members})
    return b"data: " + content.encode() + b"\n\n"


SNAPSHOT = frame("snapshot", 7, releases=[entry(1)], complete=False)
REST = frame("snapshot", 7, releases=[entry(2, "suspended")], complete=True)


@dataclass
class Source:
    """A Control Plane of nothing but a watch, whose frames the test writes."""

    watch: Received | None = None
    targets: tuple[str, ...] = ()

    async def meet(self, request: Received) -> None:
        self.targets += (request.target,)
        await request.send(b"HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\n\r\n")
        self.watch = request
        await request.wait_for_leaving()
        self.watch = None
        request.writer.close()

    async def send(self, content: bytes, connection: int = 1) -> None:
        """On the watch of that number, waited for."""
        async with patience():
            while len(self.targets) < connection or self.watch is None:  # noqa: ASYNC110  the Router's own pace
                await asyncio.sleep(0.02)
        await self.watch.send(content)


@asynccontextmanager
async def watching_router(
    stores: DatabaseUrls, source: Source, router_id: str = "router-1"
) -> AsyncIterator[RunningUnit]:
    async with listening(source.meet) as port:
        settings = router_environment(
            PLATFORM_ROUTER_ID=router_id,
            PLATFORM_ROUTER_DATABASE_URL=stores.router,
            PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=f"http://127.0.0.1:{port}",
        )
        async with running(lambda: build(read_router_settings(settings))) as unit:
            yield unit


async def seen_by(unit: RunningUnit) -> tuple[str, dict[str, str]]:
    status = (await unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
    return status["source"]["state"], {item["agentId"]: item["state"] for item in status["observations"]}


async def shows(unit: RunningUnit, state: str, **agents: str) -> None:
    expected = (state, {name.replace("_", "-"): value for name, value in agents.items()})

    async def so() -> bool:
        return await seen_by(unit) == expected

    await becomes_true(so)


@pytest.mark.rows("TOP-07")
async def test_the_source_is_live_only_after_the_last_frame_of_a_snapshot(stores: DatabaseUrls) -> None:
    source = Source()
    async with watching_router(stores, source) as unit:
        await source.send(SNAPSHOT)
        await asyncio.sleep(0.1)
        assert await seen_by(unit) == ("initializing", {})
        assert (await unit.get("/readyz")).status == 503
        await source.send(b":\n\n" + REST)
        await shows(unit, "live", agent_1="published", agent_2="suspended")
        await source.send(frame("heartbeat", 7) + frame("change", 9, release=entry(1, "disabled")))
        await shows(unit, "live", agent_1="disabled", agent_2="suspended")


WRONG = (
    frame("change", 6, release=entry(1, "suspended")),
    frame("change", 7, release=entry(1, "suspended")),
    frame("heartbeat", 6),
    frame("heartbeat", 8.0),
    frame("change", 8),
    frame("rumour", 8),
    frame("change", 8, release={**entry(1), "endpoint": "http://x"}),
    b"data: {\n\n",
    b"event: change\ndata: {}\n\n",
    b"",
)


@pytest.mark.rows("TOP-06")
async def test_a_frame_that_cannot_be_loses_the_source_which_is_resumed_behind_the_last_good_one(
    stores: DatabaseUrls,
) -> None:
    lost = (lose_and_resume(stores, wrong, f"router-{number}") for number, wrong in enumerate(WRONG))
    await asyncio.gather(*lost)


async def lose_and_resume(stores: DatabaseUrls, wrong: bytes, router_id: str) -> None:
    source = Source()
    async with watching_router(stores, source, router_id) as unit:
        await source.send(SNAPSHOT + REST)
        await shows(unit, "live", agent_1="published", agent_2="suspended")
        if wrong:
            await source.send(wrong)
        elif source.watch is not None:
            source.watch.writer.transport.abort()
        await shows(unit, "lost", agent_1="published", agent_2="suspended")
        # A new snapshot replaces everything, whatever its revision.
        await source.send(frame("snapshot", 3, releases=[entry(3)], complete=True), connection=2)
        await shows(unit, "live", agent_3="published")
        assert source.targets == ("/internal/v1/topology/watch", "/internal/v1/topology/watch?after=7")


@pytest.mark.rows("TOP-05")
async def test_fifteen_seconds_without_a_frame_are_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    topology, loop = Topology(utc_now), asyncio.get_running_loop()
    topology.connected()
    topology.take(read_event(SNAPSHOT[6:-2]))
    topology.take(read_event(REST[6:-2]))
    now, digest = loop.time(), "0" * 64
    for passed, live in ((14.9, True), (15.1, False)):
        monkeypatch.setattr(loop, "time", lambda later=now + passed: later)
        state = str(topology.status().source.state)
        vouched = topology.vouches_for(RELEASE.format(1), digest)
        refused = topology.refusal(RELEASE.format(2))
        monkeypatch.undo()
        assert (state, vouched) == (("live", True) if live else ("lost", False))
        assert str(refused) == "AGENT_RELEASE_SUSPENDED"
