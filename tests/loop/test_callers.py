"""A shared Workspace: its callers invoke and read all that is recorded there, until the answer to their removal."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from tests.support.agent import a_message, data, echo
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform
from tests.support.nested import a_message_stream, running_parent
from tests.support.peers import after
from tests.support.workspaces import Owner

pytestmark = pytest.mark.asyncio(loop_scope="module")
AFTER_REMOVAL = 400
AT_ONCE = 40


@pytest_asyncio.fixture(loop_scope="module")
async def shared(platform: Platform, bob: str) -> AsyncIterator[Platform]:
    """The platform as Bob uses it, who is a caller of Alice's Workspace at the start."""
    await platform.owner.add_caller("bob", SPACE)
    yield replace(platform, owner=Owner(platform.gateway, bob))
    await platform.owner.ask("DELETE", f"/{SPACE}/callers/bob")


async def recorded(platform: Platform, caller_id: str) -> set[str]:
    """By the filter, which finds exactly those that name the principal as their caller; a call may end meanwhile."""
    found, listed = [
        [
            (item["invocationId"], item["caller"])
            for page in await platform.owner.pages(f"/{SPACE}/invocations", 100, filters)
            for item in page
        ]
        for filters in (f"&callerId={caller_id}", "")
    ]
    assert found == [item for item in listed if item[1] == {"type": "user", "id": caller_id}]
    return {invocation_id for invocation_id, _ in found}


@pytest.mark.rows("CALL-01", "LED-08")
async def test_a_caller_invokes_in_both_modes_and_reads_every_fact_of_the_workspace(
    platform: Platform, shared: Platform
) -> None:
    of_alice, of_bob = (await platform.invoke()).json, (await shared.invoke()).json
    platform.agent.script(a_message_stream({"done": True}))
    streamed = await shared.invoke(stream=True, headers=[(b"accept", b"text/event-stream")])
    assert (streamed.status, b'"completed"' in streamed.body) == (200, True)
    paths = ["/invocations"]
    for done in (of_alice, of_bob):
        paths += [f"/invocations/{done['invocationId']}", f"/traces/{done['traceId']}"]
    assert [await shared.read(path) for path in paths] == [await platform.read(path) for path in paths]
    await platform.owner.remove_caller("bob", SPACE)
    for path in paths:
        reply = await shared.owner.ask("GET", f"/{SPACE}{path}")
        require_error(reply, 403, "FORBIDDEN", "4", "not_caller")
    require_error(await shared.invoke(), 403, "FORBIDDEN", "4", "not_caller")
    require_error(await shared.invoke(stream=True), 403, "FORBIDDEN", "4", "not_caller")
    await platform.owner.add_caller("bob", SPACE)
    assert (await shared.invoke()).status == 200


@pytest.mark.rows("CALL-02")
async def test_the_record_of_a_call_names_the_caller_and_that_of_a_nested_call_the_agent(
    platform: Platform, shared: Platform
) -> None:
    async with running_parent(shared) as parent:
        platform.agent.script(echo)
        child = (await parent.call()).json
        of_parent = await platform.detail(parent.invocation_id)
        of_child = await platform.detail(child["invocationId"])
    assert of_parent["invocation"]["caller"] == {"type": "user", "id": "bob"}
    assert of_child["invocation"]["caller"] == {"type": "agent", "id": platform.card["agentId"]}
    assert of_child["invocation"]["parentInvocationId"] == parent.invocation_id
    assert {parent.invocation_id} <= await recorded(platform, "bob")
    assert await recorded(platform, platform.card["agentId"]) == set()


@pytest.mark.rows("CALL-03")
async def test_no_call_that_follows_the_answer_to_a_removal_is_accepted(platform: Platform, shared: Platform) -> None:
    known = await recorded(platform, "bob")
    beside = asyncio.gather(*(shared.invoke() for _ in range(AT_ONCE)))
    await platform.owner.remove_caller("bob", SPACE)
    for _ in range(AFTER_REMOVAL // AT_ONCE):
        for reply in await asyncio.gather(*(shared.invoke() for _ in range(AT_ONCE))):
            require_error(reply, 403, "FORBIDDEN", "4", "not_caller")
    accepted = {reply.json["invocationId"] for reply in await beside if reply.status == 200}
    assert await recorded(platform, "bob") == known | accepted


async def test_a_call_that_runs_goes_on_after_the_removal_and_so_do_its_nested_calls(
    platform: Platform, shared: Platform
) -> None:
    release = asyncio.Event()
    done: dict[str, Any] = {"late": True}
    async with running_parent(shared, after(release, a_message(data(done)))) as parent:
        await platform.owner.remove_caller("bob", SPACE)
        platform.agent.script(echo)
        assert (await parent.call()).status == 200
        release.set()
        assert await parent.caller == 200
    assert (await platform.detail(parent.invocation_id))["invocation"]["status"] == "succeeded"
