"""The application on another ASGI server: what ADR 1 says holds there, by the tests that hold on ours.

The tests of the edge run again here, where the fixture `unit` is a unit on uvicorn. What only our server gives, such as
slow readers that are cut, pipelined requests or a Host that contradicts the target, is not among them.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from aop.net.asgi import Message, Receive, Scope, Send
from aop.serving.any_server import on_any_server
from aop.serving.body import read_bytes
from aop.serving.request import Request
from tests.serving.conftest import Workbench
from tests.serving.test_answers import (  # noqa: F401  run again, on another server
    test_a_caller_who_leaves_a_silent_stream_is_noticed_and_the_source_closed,
    test_a_failing_store_is_a_dependency_error,
    test_a_full_unit_refuses_at_once_and_leaves_running_calls_unharmed,
    test_a_stream_is_sent_piece_by_piece_and_ends_with_its_source,
    test_an_unforeseen_fault_is_an_internal_error_that_shows_nothing,
    test_one_record_per_request_holds_allowed_members_only,
    test_path_and_query_are_read_by_their_rules,
    test_silence_is_broken_by_comments,
    test_what_breaks_them_is_refused,
)
from tests.serving.test_bodies import (  # noqa: F401  likewise
    test_a_body_one_byte_over_the_limit_is_refused_and_one_at_the_limit_is_not,
    test_a_body_that_stalls_is_refused_and_the_connection_closed,
    test_an_undeclared_length_is_counted_while_it_arrives,
    test_another_media_type_is_refused,
    test_every_case_of_the_json_corpus_is_judged_at_the_edge_as_by_the_parser,
    test_json_with_any_parameter_is_taken,
    test_violations_point_at_places_and_never_hold_a_value,
)
from tests.support.errors import require_error
from tests.support.units import RunningUnit, running
from tests.support.waiting import patience


@pytest_asyncio.fixture
async def unit(bench: Workbench) -> AsyncIterator[RunningUnit]:
    async with running(bench.unit, on_uvicorn=True) as started:
        yield started


async def test_a_header_that_imitates_one_of_ours_is_refused_and_others_with_underscores_are_dropped(
    unit: RunningUnit,
) -> None:
    refused = await unit.get("/things/a/versions/1.0.0", headers=[(b"x_platform_trace_id", b"1")])
    require_error(refused, 400, "VALIDATION_ERROR", "3")
    assert refused.json["violations"] == [{"pointer": "", "rule": "header_name"}]
    assert (await unit.get("/livez", headers=[(b"x_request_id", b"1")])).status == 200


async def test_a_post_without_a_body_is_refused_for_its_content(unit: RunningUnit) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", unit.port)
    writer.write(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\r\n")
    assert b"json_syntax" in await reader.readuntil(b"}]}")
    writer.close()


SCOPE: Scope = {"type": "http", "method": "POST", "path": "/", "headers": []}


async def _nothing_more() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_server_that_says_by_an_error_that_the_caller_left_is_understood() -> None:
    left: list[bool] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        left.append(scope["aop.disconnected"].is_set())

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            raise BrokenPipeError

    await on_any_server(application, SCOPE, _nothing_more, send)
    assert left == [True]


async def test_a_caller_who_leaves_is_noticed_although_nobody_read_its_body() -> None:
    messages: list[Message] = [{"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}]

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        async with patience():
            await scope["aop.disconnected"].wait()

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None: ...

    await on_any_server(application, {**SCOPE, "headers": [(b"content-length", b"9")]}, receive, send)
    assert messages == []


async def test_a_body_is_whole_when_the_server_says_so_and_not_at_a_piece_without_bytes() -> None:
    arriving = [(b"", True), (b"[1", True), (b"", True), (b"]", False)]

    async def receive() -> Message:
        body, more = arriving.pop(0)
        return {"type": "http.request", "body": body, "more_body": more}

    assert await read_bytes(Request(SCOPE, receive), 10) == b"[1]"
