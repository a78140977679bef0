"""A Router whose watch is cut and comes back, and one that watches very much: it trusts nothing it cannot know."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from aop.contracts.publication import Release, ReleaseState
from aop.local.state import DatabaseUrls
from aop.router.app import build
from aop.router.settings import read_router_settings
from tests.support.cards import Card
from tests.support.loop import STATUS, Changes, Platform, allowed_hosts, running_platform
from tests.support.replicas import dispatch_body
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import PATIENCE_SECONDS, becomes_true
from tests.support.watch import seed_releases
from tests.support.watch_proxy import WatchProxy, watch_proxy

pytestmark = pytest.mark.second_ring


@dataclass(frozen=True)
class SecondRouter:
    """A Router that reaches the platform's Control Plane over a line that can be cut."""

    unit: RunningUnit
    line: WatchProxy
    platform: Platform

    async def status(self) -> Any:
        return (await self.unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json

    async def becomes(self, state: str, seconds: float = PATIENCE_SECONDS) -> None:
        async def so() -> bool:
            return bool((await self.status())["source"]["state"] == state)

        await becomes_true(so, seconds)

    async def states(self) -> dict[str, str]:
        return {item["releaseId"]: item["state"] for item in (await self.status())["observations"]}

    async def dispatch(self, card: Card, release: Release) -> Reply:
        body = dispatch_body(card, release)
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
    async with (
        running_platform(stores, Changes()) as platform,
        watch_proxy(platform.gateway.port) as line,
        running(lambda: build(router_settings(platform, line.origin))) as unit,
    ):
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
        await router.becomes("lost")
        await becomes_true(lambda: _ready(router, 503))
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
        await router.becomes("live")
        assert (await router.states())[fine.release_id] == "suspended"
        await becomes_true(lambda: _ready(router, 200))
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
