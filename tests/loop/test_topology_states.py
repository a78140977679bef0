"""The topology status: what it lists, how soon it follows a change, and that reading it asks and changes nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aop.contracts.documents import document
from aop.contracts.publication import Release, ReleaseState
from tests.support.catalog import member_names
from tests.support.errors import require_error
from tests.support.loop import STATUS, Platform
from tests.support.nested import running_parent
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE
from tests.support.waiting import generous

pytestmark = pytest.mark.asyncio(loop_scope="module")
Observation = dict[str, Any]


async def status(platform: Platform) -> Any:
    reply = await platform.router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)
    assert (reply.status, reply.header("cache-control")) == (200, "no-store")
    assert document("topology-status/1").violations(reply.json) == ()
    return reply.json


async def observed(platform: Platform, release_id: str) -> Observation:
    (found,) = [item for item in (await status(platform))["observations"] if item["releaseId"] == release_id]
    return dict(found)


@pytest.mark.rows("TOP-01")
async def test_published_releases_are_listed_in_order_and_nothing_else_is_told(platform: Platform) -> None:
    releases = [(await platform.installed())[1] for _ in range(3)]
    seen = await status(platform)
    assert seen["source"]["state"] == "live"
    order = [(item["agentId"], item["version"], item["releaseId"]) for item in seen["observations"]]
    assert order == sorted(set(order))
    assert {release.release_id for release in releases} < {item["releaseId"] for item in seen["observations"]}
    assert {item["state"] for item in seen["observations"]} == {"published"}
    numbers = [item["localRevision"] for item in seen["observations"]]
    assert len(set(numbers)) == len(numbers)
    names = {"agentId", "version", "releaseId", "state", "localRevision", "observedAt"}
    assert member_names(seen) == names | {"schemaVersion", "source", "since", "observations"}
    text = str(seen)
    for secret in (platform.agent.origin, releases[0].card_digest, "digest", "token", "endpoint"):
        assert secret not in text


@pytest.mark.rows("TOP-02")
async def test_every_change_shows_within_two_seconds_with_a_higher_local_revision(platform: Platform) -> None:
    (_, release, _), (card, other, _) = await platform.installed(), await platform.installed()
    last = max(item["localRevision"] for item in (await status(platform))["observations"])
    steps: tuple[tuple[Release, str, Callable[[], Awaitable[None]]], ...] = (
        (release, "suspended", lambda: platform.move(release, ReleaseState.SUSPENDED)),
        (release, "revoked", lambda: platform.move(release, ReleaseState.REVOKED)),
        (other, "disabled", lambda: platform.catalog.disable(card)),
    )
    for changed, state, act in steps:
        before = (await observed(platform, changed.release_id))["observedAt"]
        await act()
        committed = time.monotonic()
        await platform.sees(changed, state)
        assert time.monotonic() - committed < generous(2)
        item = await observed(platform, changed.release_id)
        assert (item["state"], item["localRevision"]) == (state, last + 1)
        assert item["observedAt"] > before
        last = item["localRevision"]


@pytest.mark.rows("TOP-08")
async def test_reading_the_status_asks_and_changes_nothing(platform: Platform) -> None:
    before = await status(platform)
    reads = [await platform.router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER) for _ in range(50)]
    assert {reply.body for reply in reads} == {reads[0].body}
    assert reads[0].json == before
    require_error(await platform.router.get(STATUS), 401, "UNAUTHENTICATED", "4")
    for token in ("unknown", platform.token, ROUTER_TO_CONTROL_PLANE):
        require_error(await platform.router.get(STATUS, token=token), 403, "FORBIDDEN", "4")


@pytest.mark.rows("TOP-03", "TOP-04")
async def test_a_suspended_release_is_refused_to_roots_and_children_though_its_card_was_cached(
    platform: Platform,
) -> None:
    card, release, _ = await platform.installed()
    async with running_parent(platform) as parent:
        assert (await parent.call(card["agentId"])).status == 200
        assert (await platform.invoke(agentId=card["agentId"])).status == 200
        sent = len(platform.agent.received)
        await platform.move(release, ReleaseState.SUSPENDED)
        recorded = await platform.recorded()
        replies = await asyncio.gather(
            parent.call(card["agentId"]), platform.invoke(agentId=card["agentId"]), parent.call(card["agentId"])
        )
        for reply in replies:
            await platform.require_refused(reply, 409, "AGENT_RELEASE_SUSPENDED", recorded)
        assert len(platform.agent.received) == sent
