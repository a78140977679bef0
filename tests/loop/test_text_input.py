"""A text as input: which Skills take it, and how the Agent gets it."""

import json
from typing import Any

import pytest

from aop.contracts.documents import document
from tests.support.agent import input_of
from tests.support.loop import Platform, open_skill
from tests.support.nested import running_parent
from tests.support.peers import Received
from tests.support.stream import streaming
from tests.support.streaming_agent import a_whole_stream, streamed

pytestmark = pytest.mark.asyncio(loop_scope="module")
TEXT = {"type": "string", "maxLength": 200}
MODES = ["application/json", "text/plain"]
TEXTS = [b'"two days in Ghent"', b'""', b'"\\u00e9 \xc3\xa9 \\"quoted\\" \\/ \\u0000 }]}"']


async def agent_with(platform: Platform, input_schema: dict[str, Any], **members: Any) -> str:
    card, _, _ = await platform.installed(skills=[open_skill(inputSchema=input_schema)], **members)
    return str(card["agentId"])


def require_text_request(request: Received, content: bytes, configuration: dict[str, Any]) -> None:
    """A request of the profile whose one part is the text, in the caller's own spelling."""
    assert document("a2a-profile/0.2").violations(request.json) == ()
    params = request.json["params"]
    assert params["message"]["parts"] == [{"kind": "text", "text": json.loads(content)}]
    assert params["configuration"] == configuration
    assert input_of(request) == content


@pytest.mark.rows("FOR-03")
async def test_a_skill_that_takes_a_string_gets_it_as_a_text_part(platform: Platform) -> None:
    agent = await agent_with(platform, TEXT)
    for content in TEXTS:
        reply = await platform.invoke(content, agentId=agent)
        assert (reply.status, reply.json["result"]) == (200, json.loads(content))
        (request,) = platform.agent.calls(None, reply.json["invocationId"])
        require_text_request(request, content, {"acceptedOutputModes": MODES, "blocking": True})
        platform.agent.script(streamed(*a_whole_stream(1)))
        async with streaming(platform, content, agentId=agent) as caller:
            await caller.rest()
        (request,) = platform.agent.calls(None, caller.invocation_id)
        require_text_request(request, content, {"acceptedOutputModes": MODES})
    async with running_parent(platform) as parent:
        child = await parent.call(agent, TEXTS[0])
        assert child.status == 200
        (request,) = platform.agent.calls(None, child.json["invocationId"])
        require_text_request(request, TEXTS[0], {"acceptedOutputModes": MODES, "blocking": True})


@pytest.mark.rows("FOR-03")
async def test_the_input_schema_decides_between_text_and_object(platform: Platform) -> None:
    takes_text, takes_object = await agent_with(platform, TEXT), await agent_with(platform, {"type": "object"})
    takes_both = await agent_with(platform, {})
    small = {**platform.card["limits"], "maxInputBytes": 10}
    takes_little = await agent_with(platform, {}, limits=small)
    heard, recorded = len(platform.agent.received), await platform.recorded()
    for agent, content, rule in (
        (takes_text, b"{}", "type"),
        (takes_text, b'"%b"' % (b"x" * 201), "maxLength"),
        (takes_object, b'"canary"', "type"),
    ):
        reply = await platform.invoke(content, agentId=agent)
        await platform.require_refused(reply, 400, "VALIDATION_ERROR", recorded)
        assert reply.json["violations"] == [{"pointer": "/input", "rule": rule}]
    reply = await platform.invoke(b'"123456789"', agentId=takes_little)
    await platform.require_refused(reply, 413, "PAYLOAD_TOO_LARGE", recorded)
    assert len(platform.agent.received) == heard
    for content, kind in ((b'"12345678"', "text"), (b"{}", "data")):
        for agent in (takes_both, takes_little):
            reply = await platform.invoke(content, agentId=agent)
            (request,) = platform.agent.calls(None, reply.json["invocationId"])
            assert request.json["params"]["message"]["parts"][0]["kind"] == kind
