"""What a JSON Invocation gives its caller: the Agent's value, in the Agent's spelling, under three ids."""

import asyncio
import json
from itertools import pairwise

import pytest

from aop.contracts.documents import document
from tests.support.agent import (
    a_message,
    a_task,
    credential_of,
    data,
    file,
    input_of,
    saying,
    text,
)
from tests.support.loop import SPACE, Platform
from tests.support.peers import Behaviour
from tests.support.waiting import generous

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Spellings that a reader of numbers would lose.
NUMBERS = b'{"n":[1e1000001,-1E+400,12345678901234567890,1.10,-0.0,0e0,%b],"s":"\\u00e9\\/ \xc3\xa9"}' % (b"9" * 400)
STATUS_MESSAGE = {"kind": "message", "messageId": "m-2", "role": "agent", "parts": [text("done"), data(2)]}
SAID = {"messageId": "m-3", "role": "agent", "parts": [text("one "), text("two")]}


@pytest.mark.rows("INV-01")
async def test_an_invocation_gives_the_business_value_and_three_ids(platform: Platform) -> None:
    reply = await platform.invoke(b'{"a":1}')
    assert reply.status == 200, reply.body
    assert document("invocation-result/1").violations(reply.json) == ()
    assert (reply.json["status"], reply.json["result"]) == ("succeeded", {"a": 1})
    assert reply.header("x-platform-trace-id") == reply.json["traceId"]
    assert (reply.header("content-type"), reply.header("cache-control")) == ("application/json", "no-store")
    detail = await platform.detail(reply.json["invocationId"])
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "succeeded"]
    record = detail["invocation"]
    assert (record["rootTaskId"], record["traceId"]) == (reply.json["rootTaskId"], reply.json["traceId"])
    assert record["caller"] == {"type": "user", "id": "alice"}
    assert (record["agentReleaseId"], record["agentCardVersion"]) == (platform.release.release_id, "1.0.0")
    trace = await platform.read(f"/traces/{reply.json['traceId']}")
    assert trace["invocations"] == [record]
    listed = await platform.read(f"/invocations?agentId={platform.card['agentId']}&status=succeeded&limit=1")
    assert listed["items"][0] == record


@pytest.mark.rows("INV-02")
async def test_trace_and_identity_headers_of_a_caller_are_ignored(platform: Platform) -> None:
    sent = [
        (b"x-platform-trace-id", b"f" * 32),
        (b"x-platform-invocation-id", b"inv_" + b"f" * 32),
        (b"x-platform-root-task-id", b"task_" + b"f" * 32),
        (b"x-platform-workspace-id", b"elsewhere"),
        (b"x-platform-delegation", b"forged"),
    ]
    reply = await platform.invoke(headers=sent)
    assert reply.status == 200, reply.body
    assert reply.header("x-platform-trace-id") == reply.json["traceId"] != "f" * 32
    (request,) = platform.agent.calls(None, reply.json["invocationId"])
    assert request.values("x-platform-trace-id") == [reply.json["traceId"]]
    assert request.values("x-platform-workspace-id") == [SPACE]
    assert "f" * 32 not in str(request.headers)


@pytest.mark.rows("INV-12")
async def test_input_and_result_keep_their_bytes(platform: Platform) -> None:
    skill = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "number"}}}}
    members = {"inputSchema": skill, "outputSchema": skill}
    card, _, _ = await platform.installed(skills=[{**platform.card["skills"][0], **members}])
    reply = await platform.invoke(NUMBERS, agentId=card["agentId"])
    assert reply.status == 200, reply.body
    assert reply.body.partition(b'"result":')[2] == NUMBERS + b"}"
    (request,) = platform.agent.calls(None, reply.json["invocationId"])
    assert input_of(request) == NUMBERS


@pytest.mark.rows("INV-12")
async def test_blanks_inside_input_reach_the_agent(platform: Platform) -> None:
    content = b'{ "a" :\t[ 1 ,\n 2 ] }'
    reply = await platform.invoke(content)
    (request,) = platform.agent.calls(None, reply.json["invocationId"])
    assert input_of(request) == content


@pytest.mark.rows("INV-13", "REAS-01")
async def test_an_answer_that_breaks_the_output_schema_is_not_shown(platform: Platform) -> None:
    schema = {"type": "object", "required": ["summary"]}
    card, _, _ = await platform.installed(skills=[{**platform.card["skills"][0], "outputSchema": schema}])
    for parts in ([data({"other": "canary-output"})], [data({"summary": 1}), data({"summary": "canary-output"})]):
        platform.agent.script(a_message(*parts))
        reply = await platform.invoke(agentId=card["agentId"])
        await platform.require_failed(reply, 502, "A2A_PROTOCOL_ERROR")
        assert reply.json["reason"] == "output_schema"
        assert b"canary" not in reply.body
    platform.agent.script(a_message(data({"summary": 1})))
    assert (await platform.invoke(agentId=card["agentId"])).json["result"] == {"summary": 1}


@pytest.mark.rows("INV-14", "INV-15")
@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (a_message(data({"a": [1]})), {"a": [1]}),
        (a_message(data(None)), None),
        (a_message(text("words")), "words"),
        (a_message(file(name="a.txt", bytes="YQ==")), {"name": "a.txt", "bytes": "YQ=="}),
        (a_message(text("one"), data(2), file(uri="u:3")), ["one", 2, {"uri": "u:3"}]),
        (a_task("completed", [data(1)]), 1),
        (a_task("completed", [data(1), text("b")], [data(3)]), [1, "b", 3]),
        (a_task("completed", [data(1)], status={"state": "completed", "message": STATUS_MESSAGE}), 1),
        (a_task("completed", status={"state": "completed", "message": STATUS_MESSAGE}), ["done", 2]),
        (a_task("completed"), None),
        (a_task("completed", [text("one ")], [text("two")]), "one two"),
        (a_task("completed", history=[SAID, {**SAID, "role": "user"}]), "one two"),
    ],
)
async def test_the_result_is_made_of_the_parts(platform: Platform, behaviour: Behaviour, expected: object) -> None:
    platform.agent.script(behaviour)
    reply = await platform.invoke()
    assert (reply.status, reply.json.get("result")) == (200, expected), reply.body
    assert platform.agent.methods(reply.json["invocationId"]) == ["message/send"]


@pytest.mark.rows("SOUND-10")
@pytest.mark.parametrize("size", [1, 70_000], ids=["checked at once", "checked in a schema process"])
async def test_several_texts_are_one_string_as_they_are_spelt_if_the_schema_takes_one(
    platform: Platform, size: int
) -> None:
    spelt = [b'"\\u00e9\\/ %b"' % (b"a" * size), b' "\xc3\xa9\\n" ', b'""']
    parts = b",".join(b'{"kind":"text","text":%b}' % one for one in spelt)
    task = b'{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[%b]}'
    artifact = b'{"artifactId":"a","parts":[%b]}' % parts
    answer = saying(b'{"jsonrpc":"2.0","id":"%id%","result":' + task % artifact + b"}")
    one = b'"' + b"".join(text.strip()[1:-1] for text in spelt) + b'"'
    several = b"[" + b",".join(text.strip() for text in spelt) + b"]"
    for schema, expected in (({"type": "string"}, one), ({}, one), ({"type": "array"}, several)):
        card, _, _ = await platform.installed(skills=[{**platform.card["skills"][0], "outputSchema": schema}])
        platform.agent.script(answer)
        reply = await platform.invoke(agentId=card["agentId"])
        assert reply.body.partition(b'"result":')[2] == expected + b"}"


@pytest.mark.rows("INV-16", "AUTH-12")
async def test_an_unfinished_task_is_followed_at_growing_pauses_with_fresh_credentials(platform: Platform) -> None:
    platform.agent.script(a_task("submitted"), a_task("working"), a_task("working"), a_task("completed", [data(7)]))
    reply = await platform.invoke()
    assert (reply.status, reply.json["result"]) == (200, 7)
    requests = platform.agent.calls(None, reply.json["invocationId"])
    assert platform.agent.methods(reply.json["invocationId"]) == ["message/send", *["tasks/get"] * 3]
    pauses = [later.at - earlier.at for earlier, later in pairwise(requests)]
    assert all(pause >= wanted for pause, wanted in zip(pauses, (0.05, 0.1, 0.2), strict=True)), pauses
    assert sum(pauses) < generous(2)
    assert len({credential_of(request).claims["jti"] for request in requests}) == 4
    assert requests[0].json["params"]["configuration"] == {
        "acceptedOutputModes": ["application/json", "text/plain"],
        "blocking": True,
    }
    assert [request.json["params"] for request in requests[1:]] == [{"id": "task-7", "historyLength": 1}] * 3
    assert len({request.json["id"] for request in requests}) == 4


@pytest.mark.rows("INV-31", "LED-09")
async def test_a_hundred_calls_at_once_each_get_their_own(platform: Platform) -> None:
    before = await platform.recorded()
    replies = await asyncio.gather(*(platform.invoke(b'{"n":%d}' % number) for number in range(100)))
    assert [(reply.status, reply.json["result"]["n"]) for reply in replies] == [(200, n) for n in range(100)]
    for name in ("invocationId", "rootTaskId", "traceId"):
        assert len({reply.json[name] for reply in replies}) == 100
    assert await platform.recorded() == before + 100
    details = await asyncio.gather(*(platform.detail(reply.json["invocationId"]) for reply in replies))
    assert {detail["events"][-1]["type"] for detail in details} == {"succeeded"}
    tokens = {credential_of(request).claims["jti"] for request in platform.agent.received}
    assert len(tokens) == len(platform.agent.received)


async def test_the_agent_may_write_its_answer_as_it_likes(platform: Platform) -> None:
    body = (
        b'\n{ "result" : {"unknown": {"a": [1]}, "parts": [ {"data" : {"x": 1.50} , "kind": "data",'
        b' "metadata": null} ], "role":"agent","messageId":"m","kind":"message"}, "id":"%id%", "jsonrpc":"2.0"}\n'
    )
    platform.agent.script(saying(body, 200, b"Content-Type: Application/JSON; charset=utf-8"))
    reply = await platform.invoke()
    assert reply.status == 200, reply.body
    assert b'"result":{"x": 1.50}' in reply.body


async def test_a_large_answer_within_the_limit_arrives_whole(platform: Platform) -> None:
    platform.agent.script(a_message(text("x" * 1_000_000)))
    reply = await platform.invoke()
    assert len(json.loads(reply.body)["result"]) == 1_000_000
