"""What the Gateway makes of the Router's stream: whole frames pass as they are, a broken one ends the answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from tests.loop.router_answers import ScriptedRouter, error, id_lines
from tests.support.loop import Changes, Platform, gateway_alone
from tests.support.peers import Behaviour, Received, hold, listening
from tests.support.postgres import PostgresForTests
from tests.support.stream import StreamCaller, requesting
from tests.support.waiting import becomes_true, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")

FRAME_LIMIT = 2000


@pytest.fixture(scope="module")
def router() -> ScriptedRouter:
    return ScriptedRouter()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(postgres: PostgresForTests, router: ScriptedRouter) -> AsyncIterator[Platform]:
    changes = Changes(control_plane={"PLATFORM_SSE_FRAME_MAX_BYTES": str(FRAME_LIMIT)})
    async with (
        listening(router.meet) as port,
        gateway_alone(await postgres.new_platform(), port, changes) as alone,
    ):
        yield alone


def frame(request: Received, sequence: int, kind: str = "chunk", **members: object) -> bytes:
    named = {name: request.json[name] for name in ("invocationId", "rootTaskId", "traceId")}
    status = {"accepted": "pending", "chunk": "running", "completed": "succeeded"}[kind]
    event = {"schemaVersion": "2", "sequence": sequence, "type": kind, "status": status, **named, **members}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def chunk(request: Received, number: int, value: object = 0) -> bytes:
    return frame(request, number + 1, chunkIndex=number, chunk=value)


async def begin(request: Received, *lines: bytes) -> None:
    head = [b"HTTP/1.1 200 Said", *(lines or (b"content-type: text/event-stream", *id_lines(request)))]
    await request.send(b"\r\n".join([*head, b"transfer-encoding: chunked", b"", b""]))


async def say(request: Received, *pieces: bytes) -> None:
    for piece in pieces:
        await request.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        await asyncio.sleep(0)


@asynccontextmanager
async def opened(gateway: Platform, router: ScriptedRouter, behave: Behaviour) -> AsyncIterator[StreamCaller]:
    router.behave = behave
    async with requesting(gateway) as caller:
        await caller.head()
        yield caller


async def test_frames_pass_as_they_are_however_they_are_cut_and_comments_of_the_router_do_not(
    gateway: Platform, router: ScriptedRouter
) -> None:
    sent = b""

    async def behave(request: Received) -> None:
        nonlocal sent
        parts = (frame(request, 0, "accepted"), b":\n\n", *(chunk(request, n, "\u00e9" * n) for n in range(20)))
        sent = b"".join(parts) + b":\n\n:\n\n" + frame(request, 21, "completed")
        await begin(request)
        begun, rest = sent[:1000], sent[1000:]
        await say(request, *(begun[at : at + 1] for at in range(1000)))
        await say(request, *(rest[at : at + 333] for at in range(0, len(rest), 333)), b"")

    async with opened(gateway, router, behave) as caller:
        await caller.whole()
    assert caller.body == sent.replace(b":\n\n", b"")
    assert caller.values("x-platform-invocation-id") == []


BROKEN: dict[str, bytes] = {
    "not JSON": b"data: {]\n\n",
    "cut JSON": b'data: {"a":"b\n\n',
    "two values": b'data: {"a":1} {"b":2}\n\n',
    "not UTF-8": b'data: {"a":"\xff"}\n\n',
    "a control character": b'data: {"a":"\x01"}\n\n',
    "a carriage return": b'data: {"a":1}\r\n\r\n',
    "two lines": b'data: {"a":1}\ndata: 2\n\n',
    "an id": b'id: 1\ndata: {"a":1}\n\n',
    "an event name": b"event: x\n\n",
    "a retry": b"retry: 1\n\n",
    "a talking comment": b": hello\n\n",
    "no blank": b'data:{"a":1}\n\n',
    "empty": b"data: \n\n",
    "blank line": b"\n",
    "over the limit": b'data: {"a":"' + b"x" * FRAME_LIMIT + b'"}\n\n',
    "over the limit and never ended": b'data: {"a":"' + b"x" * FRAME_LIMIT,
}


@pytest.mark.rows("STR-16")
@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize("broken", BROKEN)
async def test_a_broken_frame_ends_the_answer_without_a_terminal_and_is_not_forwarded(
    gateway: Platform, router: ScriptedRouter, broken: str, joined: bool
) -> None:
    good = b""

    async def behave(request: Received) -> None:
        nonlocal good
        good = frame(request, 0, "accepted") + chunk(request, 0)
        rest = BROKEN[broken] + chunk(request, 1) + frame(request, 3, "completed")
        await begin(request)
        await say(request, *([good + rest] if joined else [good, rest]))
        await request.wait_for_leaving()

    async with opened(gateway, router, behave) as caller:
        assert [event["type"] for event in await caller.rest()] == ["accepted", "chunk"]
    assert caller.body == good
    async with promptly(1):
        await router.received[-1].left.wait()


@pytest.mark.rows("STR-16")
@pytest.mark.parametrize("end", ["clean", "cut", "inside a frame"])
async def test_a_router_that_ends_early_interrupts_the_delivery(
    gateway: Platform, router: ScriptedRouter, end: str
) -> None:
    async def behave(request: Received) -> None:
        await begin(request)
        await say(request, frame(request, 0, "accepted"), chunk(request, 0))
        if end == "inside a frame":
            await say(request, b'data: {"a"')
        if end != "cut":
            await request.send(b"0\r\n\r\n")
        request.writer.close()

    async with opened(gateway, router, behave) as caller:
        assert [event["type"] for event in await caller.rest()] == ["accepted", "chunk"]


@pytest.mark.rows("STR-16", "INV-29")
@pytest.mark.parametrize("wrong", ["media type", "parameters", "no ids", "other trace", "JSON result"])
async def test_a_stream_that_is_not_an_accepted_one_is_a_dependency_error(
    gateway: Platform, router: ScriptedRouter, wrong: str
) -> None:
    async def behave(request: Received) -> None:
        kind, ids = b"content-type: text/event-stream", id_lines(request)
        if wrong == "other trace":
            ids = id_lines(request, trace="e" * 32)
        kinds = {"media type": b"text/plain", "parameters": b"text/event-stream; charset=utf-8"}
        kind = b"content-type: " + kinds.get(wrong, b"text/event-stream")
        if wrong == "JSON result":
            await request.answer(b"{}", 200, b"content-type: application/json", *ids)
            return
        await begin(request, kind, *(ids[:1] if wrong == "no ids" else ids))
        await say(request, frame(request, 0, "accepted"))
        await request.wait_for_leaving()

    async with opened(gateway, router, behave) as caller:
        answer = json.loads(await caller.text())
    assert (caller.status, answer["code"]) == (503, "DEPENDENCY_ERROR")
    correlated = wrong not in {"no ids", "other trace"}
    assert ("invocationId" in answer) == correlated
    assert answer.get("reason") == ("outcome_unknown" if correlated else "acceptance_unknown")


@pytest.mark.rows("STR-12")
@pytest.mark.parametrize(("code", "correlated"), [("OVERLOADED", False), ("ROUTE_NOT_FOUND", True), ("TIMEOUT", True)])
async def test_an_error_instead_of_a_stream_passes_as_json(
    gateway: Platform, router: ScriptedRouter, code: str, correlated: bool
) -> None:
    async with opened(gateway, router, error(code, correlated=correlated)) as caller:
        answer = json.loads(await caller.text())
    assert answer["code"] == code
    assert ("invocationId" in answer) == correlated
    assert caller.values("retry-after") == (["1"] if code == "OVERLOADED" else [])


@pytest.mark.rows("CAN-01")
@pytest.mark.parametrize("stage", ["before the head", "after the head", "between frames", "inside a frame"])
async def test_the_gateway_leaves_the_router_at_every_stage_within_a_second(
    gateway: Platform, router: ScriptedRouter, stage: str
) -> None:
    async def behave(request: Received) -> None:
        if stage != "before the head":
            await begin(request)
        if stage in {"between frames", "inside a frame"}:
            await say(request, frame(request, 0, "accepted"))
        if stage == "inside a frame":
            await say(request, b'data: {"a"')
        await hold(request)

    router.behave = behave
    count = len(router.received)

    async def heard() -> bool:
        return len(router.received) > count

    async with requesting(gateway) as caller:
        await becomes_true(heard)
        await asyncio.sleep(0.05)
        caller.leave()
        async with promptly(0.9):
            await router.received[-1].left.wait()
