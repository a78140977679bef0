"""The event feed at the Gateway: what it has, whom it is for, and which positions are refused."""

from typing import Any

import pytest

from aop.base.canonical import from_base64url, to_base64url
from aop.contracts.documents import document
from tests.support.agent import a_message, data, rpc_error
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform
from tests.support.nested import running_parent
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = f"/v1/workspaces/{SPACE}/events"


async def page(platform: Platform, query: str = "", token: str | None = None) -> Any:
    reply = await platform.gateway.get(f"{PATH}{query}", token=token or platform.token)
    assert reply.status == 200, reply.body
    assert document("event-page/1").violations(reply.json) == ()
    return reply.json


async def all_events(platform: Platform, limit: int = 100, after: str | None = None) -> tuple[list[Any], str]:
    found = list[Any]()
    while True:
        given = "" if after is None else f"&after={after}"
        answer = await page(platform, f"?limit={limit}{given}")
        assert len(answer["items"]) <= limit
        after = str(answer["after"])
        if not answer["items"]:
            return found, after
        found += answer["items"]


async def ended(platform: Platform, count: int) -> list[Any]:
    """Every event, once so many Invocations have their terminal in the feed."""
    events = list[Any]()

    async def are_there() -> bool:
        events[:] = (await all_events(platform))[0]
        return ends_in(events) == count

    await becomes_true(are_there)
    return events


def ends_in(events: list[Any]) -> int:
    return sum("latencyMs" in event["data"] for event in events)


async def test_events_are_cloud_events_of_what_the_invocation_shows(platform: Platform) -> None:
    assert (await page(platform))["items"] == []
    platform.agent.script(rpc_error(-32000, "no"))
    failed = (await platform.invoke()).json
    async with running_parent(platform) as parent:
        assert (await parent.call()).status == 200
    events = await ended(platform, 3)
    detail = await platform.detail(failed["invocationId"])
    own = [event for event in events if event["subject"] == failed["invocationId"]]
    assert [event["data"] for event in own] == detail["events"]
    assert [event["type"] for event in own] == [f"aop.invocation.{each['type']}" for each in detail["events"]]
    for event in events:
        facts = event["data"]
        assert event["source"] == f"/v1/workspaces/{SPACE}"
        assert (event["id"], event["time"]) == (facts["eventId"], facts["occurredAt"])
        assert event["dataschema"] == "urn:aop:contract:invocation-event:0.3"
    created = [event["subject"] for event in events if event["data"]["type"] == "created"]
    child = next(event["data"] for event in events if "parentInvocationId" in event["data"])
    assert created.index(child["parentInvocationId"]) < created.index(child["invocationId"])


async def test_a_reader_may_change_its_limit_and_finds_nothing_twice(platform: Platform) -> None:
    before = ends_in((await all_events(platform))[0])
    platform.agent.script(a_message(data(1)))
    await platform.invoke()
    whole = await ended(platform, before + 1)
    first = await page(platform, "?limit=2")
    rest, end = await all_events(platform, 3, first["after"])
    assert [*first["items"], *rest] == whole
    assert (await page(platform, f"?after={end}")) == {"items": [], "after": end}
    assert len((await page(platform))["items"]) == min(25, len(whole))


async def test_events_are_for_owner_and_callers_alone(platform: Platform, bob: str) -> None:
    require_error(await platform.gateway.get(PATH, token=bob), 403, "FORBIDDEN", "4", "not_caller")
    nowhere = await platform.gateway.get("/v1/workspaces/nowhere/events", token=platform.token)
    require_error(nowhere, 404, "NOT_FOUND", "4", "workspace_unknown")
    assert (await platform.owner.ask("PUT", f"/{SPACE}/callers/bob")).status == 201
    assert await page(platform, token=bob) == await page(platform)


@pytest.mark.parametrize("query", ["after=", "after=%00", "after=AAAA", "limit=0", "limit=101", "limit=1&limit=2"])
async def test_a_read_of_another_form_is_refused(platform: Platform, query: str) -> None:
    reply = await platform.gateway.get(f"{PATH}?{query}", token=platform.token)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert [violation["pointer"] for violation in reply.json["violations"]] == [f"/{query.partition('=')[0]}"]
    require_error(await platform.gateway.get(f"{PATH}?cursor=a", token=platform.token), 400, "VALIDATION_ERROR", "4")


async def test_a_position_of_another_workspace_or_with_another_byte_is_refused(platform: Platform) -> None:
    after = (await all_events(platform))[1]
    raw = from_base64url(after)
    changed = to_base64url(raw[:-2] + bytes([raw[-2] ^ 1]) + raw[-1:])
    assert (await platform.owner.ask("POST", "", {"workspaceId": "events-elsewhere"})).status == 201
    for path, given in ((PATH, changed), ("/v1/workspaces/events-elsewhere/events", after)):
        reply = await platform.gateway.get(f"{path}?after={given}", token=platform.token)
        require_error(reply, 400, "VALIDATION_ERROR", "4")
        assert reply.json["violations"] == [{"pointer": "/after", "rule": "position"}]
