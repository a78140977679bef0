"""A Router whose watch is cut, comes back, or says something impossible: it trusts nothing it cannot know."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_id, new_trace_id
from aop.contracts.publication import Release, ReleaseState
from aop.local.state import DatabaseUrls
from aop.router.app import build
from aop.router.settings import read_router_settings
from aop.router.topology import Topology
from aop.router.topology_watch import read_event
from tests.support.cards import Card
from tests.support.loop import STATUS, Changes, Platform, allowed_hosts, running_platform
from tests.support.peers import Received, listening
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import becomes_true
from tests.support.watch import seed_releases
from tests.support.watch_proxy import WatchProxy, watch_proxy

RELEASE = "rel_0190f5c0113c7a219b8c7d6e5f4000{:02x}"


@dataclass(frozen=True)
class SecondRouter:
    """A Router that reaches the platform's Control Plane over a line that can be cut."""

    unit: RunningUnit
    line: WatchProxy
    platform: Platform

    async def status(self) -> Any:
        return (await self.unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json

    async def becomes(self, state: str, seconds: float = 5.0) -> None:
        async def so() -> bool:
            return bool((await self.status())["source"]["state"] == state)

        await becomes_true(so, seconds)

    async def states(self) -> dict[str, str]:
        return {item["releaseId"]: item["state"] for item in (await self.status())["observations"]}

    async def dispatch(self, card: Card, release: Release) -> Reply:
        body = {
            "invocationId": new_id("inv"),
            "rootTaskId": new_id("task"),
            "traceId": new_trace_id(),
            "workspaceId": "space",
            "targetAgentId": card["agentId"],
            "capability": "work",
            "caller": {"type": "user", "id": "alice"},
            "agentCardVersion": "1.0.0",
            "agentReleaseId": release.release_id,
            "agentCardDigest": release.card_digest,
            "input": {},
            "stream": False,
        }
        return await self.unit.post("/internal/v1/invocations", body, token=CONTROL_PLANE_TO_ROUTER)


def router_settings(platform: Platform, origin: str) -> Any:
    return read_router_settings(
        router_environment(
            PLATFORM_ROUTER_ID="router-2",
            PLATFORM_ROUTER_DATABASE_URL=platform.stores.router,
            PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=origin,
            PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed_hosts(platform.agent),
        )
    )


@asynccontextmanager
async def second_router(stores: DatabaseUrls) -> AsyncIterator[SecondRouter]:
    async with running_platform(stores, Changes()) as platform, watch_proxy(platform.gateway.port) as line:
        async with running(lambda: build(router_settings(platform, line.origin))) as unit:
            router = SecondRouter(unit, line, platform)
            await router.becomes("live")
            yield router


@pytest.mark.rows("TOP-05", "TOP-06", "OPS-04")
async def test_a_cut_watch_trusts_no_card_and_comes_back_with_what_it_missed(stores: DatabaseUrls) -> None:
    async with second_router(stores) as router:
        platform, line = router.platform, router.line
        good, fine, _ = await platform.installed()
        bad, suspended, _ = await platform.installed()
        await platform.move(suspended, ReleaseState.SUSPENDED)
        await becomes_true(lambda: _shows(router, suspended, "suspended"))
        assert [(await router.dispatch(good, fine)).status for _ in range(2)] == [200, 200]
        assert line.resolves() == 1
        line.cut()
        await router.becomes("lost", 1)
        await becomes_true(lambda: _ready(router, 503), 2)
        assert [(await router.dispatch(good, fine)).status for _ in range(2)] == [200, 200]
        assert line.resolves() == 3
        reply = await router.dispatch(bad, suspended)
        assert (reply.status, reply.code) == (409, "AGENT_RELEASE_SUSPENDED")
        assert line.resolves() == 3
        await platform.move(fine, ReleaseState.SUSPENDED)
        reply = await router.dispatch(good, fine)
        assert (reply.status, reply.code, line.resolves()) == (409, "AGENT_RELEASE_SUSPENDED", 4)
        assert (await router.states())[fine.release_id] == "published"
        line.mend()
        await router.becomes("live", 6)
        assert (await router.states())[fine.release_id] == "suspended"
        await becomes_true(lambda: _ready(router, 200), 2)
        assert "after=" not in line.watches[0]
        assert all("?after=" in target for target in line.watches[1:])
        reply = await router.dispatch(good, fine)
        assert (reply.status, reply.code, line.resolves()) == (409, "AGENT_RELEASE_SUSPENDED", 4)


async def _shows(router: SecondRouter, release: Release, state: str) -> bool:
    return (await router.states()).get(release.release_id) == state


async def _ready(router: SecondRouter, status: int) -> bool:
    return (await router.unit.get("/readyz")).status == status


@pytest.mark.rows("TOP-07")
async def test_1200_releases_and_twenty_concurrent_changes_are_all_observed(stores: DatabaseUrls) -> None:
    await seed_releases(stores.migration, 1200)
    async with running_platform(stores, Changes()) as platform:
        (_, own, _) = await platform.installed()
        releases = [(await platform.installed())[1] for _ in range(20)]
        seen = (await platform.router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["observations"]
        assert len(seen) == 1222
        order = [(item["agentId"].encode(), item["version"].encode(), item["releaseId"].encode()) for item in seen]
        assert order == sorted(set(order))
        before = max(item["localRevision"] for item in seen)
        await asyncio.gather(*(platform.move(release, ReleaseState.SUSPENDED) for release in releases))
        for release in releases:
            await platform.sees(release, "suspended")
        seen = (await platform.router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["observations"]
        changed = {item["localRevision"] for item in seen if item["state"] == "suspended"}
        assert changed == set(range(before + 1, before + 21))
        assert any((item["releaseId"], item["state"]) == (own.release_id, "published") for item in seen)


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
        async with asyncio.timeout(10):
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
