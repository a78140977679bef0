"""What each kind of answer, and of silence, becomes at the caller: never an empty list, never a wrong absence."""

import asyncio
import json
import pickle
from typing import Any

import pytest

from aop.base.settings import Secret
from aop.client import (
    AnswerLost,
    BrokenAnswer,
    Client,
    DeadlinePassed,
    InvocationFailed,
    PlatformError,
)
from aop.contracts.errors import ErrorCode, Reason, code_entries, reason_pairs
from aop.contracts.recovery import Situation, recoveries, recovery_of
from tests.client.calling import TOKEN, calling, failure
from tests.client.gateway import TRACE, TRACED, WORKSPACE, an_error, saying, scripted_gateway
from tests.support.every import every
from tests.support.peers import JSON, Behaviour, hold, reset, sending
from tests.support.waiting import PATIENCE_SECONDS, generous

IDS = {"invocationId": "inv_" + "1" * 32, "rootTaskId": "task_" + "2" * 32}
RESULT = {"schemaVersion": "1", **IDS, "traceId": TRACE, "status": "succeeded", "result": None}


@every("code", list(ErrorCode))
async def test_an_answered_error_carries_code_status_trace_and_the_recovery_of_the_table(code: ErrorCode) -> None:
    status = code_entries()[code].status
    error = await failure(an_error(code, status))
    assert type(error) is PlatformError
    assert (error.code, error.status, error.trace_id, error.invocation_id) == (code, status, TRACE, None)
    assert (error.reason, error.recovery) == (None, recoveries()[code])
    assert str(error) == f"{code}: Said by the test (trace {TRACE})"


@pytest.mark.rows("SAFE-12")
@every(("code", "reason"), sorted(reason_pairs()))
async def test_a_reason_is_told_with_its_sentence_and_the_nearer_recovery(code: ErrorCode, reason: Reason) -> None:
    """And nothing is sent again by itself, whatever the reason."""
    error = await failure(an_error(code, code_entries()[code].status, reason=reason))
    found = recovery_of(code, reason)
    assert (error.code, error.reason, error.recovery) == (code, reason, found)
    assert f"{reason}: {str(found.sentence).removesuffix('.')} (trace {TRACE})" in str(error)


async def test_an_error_after_acceptance_is_a_failed_invocation_with_its_ids() -> None:
    error = await failure(an_error("TIMEOUT", 504, **IDS), lambda client: client.invoke("demo", "a", "b", {}))
    assert type(error) is InvocationFailed
    assert (error.invocation_id, error.root_task_id) == (IDS["invocationId"], IDS["rootTaskId"])


@pytest.mark.parametrize("behave", [an_error("TIMEOUT", 504, **IDS), saying({}), reset], ids=["code", "broken", "lost"])
async def test_an_error_crosses_to_another_process_as_it_is(behave: Behaviour) -> None:
    error = await failure(behave)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    known = {name: value for name, value in vars(error).items() if name != "cause"}  # that stays where it happened
    assert (type(again), str(again), vars(again)) == (type(error), str(error), known)


async def test_an_overloaded_platform_tells_when_to_come_back() -> None:
    body = {"code": "OVERLOADED", "message": "Busy.", "traceId": TRACE}
    error = await failure(saying(body, 503, JSON, TRACED, b"retry-after: 1"))
    assert (error.code, error.retry_after) == (ErrorCode.OVERLOADED, 1)


_PAGE = b"<html>404</html>"
_ERROR = {"code": "NOT_FOUND", "message": "No.", "traceId": TRACE}
_BROKEN: dict[str, tuple[Behaviour, int]] = {
    "a page of another server": (saying(_PAGE, 404, b"content-type: text/html"), 404),
    "an empty body": (saying(b"", 404, TRACED), 404),
    "an error under another status": (saying(_ERROR, 500), 500),
    "an error with a success status": (saying(_ERROR, 200), 200),
    "an unknown code": (saying({**_ERROR, "code": "GONE"}, 410), 410),
    "a reason of another code": (saying({**_ERROR, "reason": "schema_work"}, 404), 404),
    "an unknown reason": (saying({**_ERROR, "reason": "lost it"}, 404), 404),
    "an error of another trace": (saying({**_ERROR, "traceId": TRACE[::-1]}, 404), 404),
    "an error without a trace header": (saying(_ERROR, 404, JSON), 404),
    "an error with two trace headers": (saying(_ERROR, 404, JSON, TRACED, TRACED), 404),
    "an error with half of the ids": (saying({**_ERROR, "invocationId": "inv_1"}, 404), 404),
    "another document": (saying({"items": []}), 200),
    "an unknown member": (saying({**WORKSPACE, "more": 1}), 200),
    "a missing member": (saying({"workspaceId": "demo"}), 200),
    "a repeated member": (saying(json.dumps(WORKSPACE).encode()[:-1] + b',"ownerId":"bob"}'), 200),
    "cut JSON": (saying(json.dumps(WORKSPACE).encode()[:-1]), 200),
    "JSON by another name": (saying(WORKSPACE, 200, b"content-type: text/plain", TRACED), 200),
    "another success": (saying(WORKSPACE, 201), 201),
    "a redirect": (saying(b"", 302, b"location: http://127.0.0.1:1/", TRACED), 302),
    "no content": (sending(b"HTTP/1.1 204 No\r\n\r\n"), 204),
}


@every("name", list(_BROKEN))
async def test_what_the_contract_does_not_know_is_a_broken_answer(name: str) -> None:
    behave, status = _BROKEN[name]
    error = await failure(behave)
    assert type(error) is BrokenAnswer
    assert error.status == status
    assert error.recovery == recoveries()[Situation.BROKEN_ANSWER]


@pytest.mark.parametrize("body", [{"items": None}, {}, {"items": [], "next": "x"}, [], {"items": [{}]}])
async def test_a_broken_page_is_never_an_empty_list(body: Any) -> None:
    async def read(client: Client) -> object:
        return [workspace async for workspace in client.list_workspaces()]

    assert type(await failure(saying(body), read)) is BrokenAnswer


async def test_an_answer_larger_than_allowed_is_broken() -> None:
    assert type(await failure(saying(WORKSPACE), max_answer_bytes=20)) is BrokenAnswer


async def test_a_result_of_another_trace_is_broken() -> None:
    answer = saying({**RESULT, "traceId": TRACE[::-1]})
    assert type(await failure(answer, lambda client: client.invoke("demo", "a", "b", {}))) is BrokenAnswer


async def test_a_card_whose_bytes_are_not_those_of_its_digest_is_broken() -> None:
    headers = (JSON, TRACED, b'etag: "' + b"0" * 64 + b'"', b"x-platform-publication-status: published")
    error = await failure(saying(b"{}", 200, *headers), lambda client: client.read_agent_card("a", "1.0.0"))
    assert type(error) is BrokenAnswer


@pytest.mark.parametrize(
    "behave",
    [reset, sending(b""), sending(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), sending(b"SSH-2.0-x\r\n\r\n")],
    ids=["reset", "closed", "cut", "not HTTP"],
)
async def test_a_request_whose_answer_did_not_come_whole_may_have_taken_effect(behave: Behaviour) -> None:
    error = await failure(behave)
    assert type(error) is AnswerLost
    assert error.recovery == recoveries()[Situation.ANSWER_LOST]


async def test_an_answer_cut_behind_its_head_still_names_the_trace() -> None:
    error = await failure(sending(b"HTTP/1.1 200 OK\r\n" + TRACED + b"\r\ncontent-length: 9\r\n\r\n{"))
    assert (type(error), error.trace_id) == (AnswerLost, TRACE)


async def test_the_time_of_a_call_is_an_argument_of_the_client_of_a_view_and_of_an_invocation() -> None:
    short = generous(0.1)
    for call, options in (
        (lambda client: client.read_workspace("demo"), {"timeout": short}),
        (lambda client: client.within(short).read_workspace("demo"), {}),
        (lambda client: client.within(600).invoke("demo", "a", "b", {}, timeout=short), {}),
        (lambda client: client.within(short).invoke("demo", "a", "b", {}), {}),
    ):
        begun = asyncio.get_running_loop().time()
        error = await failure(hold, call, **options)
        assert type(error) is DeadlinePassed
        assert isinstance(error, TimeoutError)
        assert asyncio.get_running_loop().time() - begun < PATIENCE_SECONDS


async def test_what_is_sent_is_what_the_contract_says() -> None:
    async with calling(saying(RESULT)) as (client, gateway):
        await client.invoke("d/e mo", "a", "b", b'{ "n" : 1.10 }')
    (request,) = gateway.received
    assert (request.verb, request.target) == ("POST", "/v1/workspaces/d%2Fe%20mo/invocations")
    assert request.values("authorization") == [f"Bearer {TOKEN}"]
    assert request.values("content-type") == request.values("accept") == ["application/json"]
    assert request.body == b'{"agentId":"a","capability":"b","input":{ "n" : 1.10 },"stream":false}'


@pytest.mark.rows("FOR-03")
async def test_a_text_is_sent_as_a_string_whatever_it_looks_like() -> None:
    async with calling(saying(RESULT)) as (client, gateway):
        for text in ("Hello there", '{"a": 1}', ""):
            await client.invoke("demo", "a", "b", text)
    assert [json.loads(request.body)["input"] for request in gateway.received] == ["Hello there", '{"a": 1}', ""]


async def _awaited() -> Secret:
    return Secret("awaited")


@pytest.mark.parametrize(
    ("token", "sent"),
    [
        ("plain", ["Bearer plain"]),
        (Secret("secret"), ["Bearer secret"]),
        (lambda: "called", ["Bearer called"]),
        (_awaited, ["Bearer awaited"]),
    ],
    ids=["text", "Secret", "function", "coroutine function"],
)
async def test_the_token_is_text_a_secret_or_a_function_that_gives_it(token: Any, sent: list[str]) -> None:
    async with scripted_gateway(saying(WORKSPACE)) as gateway, Client(gateway.origin, token) as client:
        await client.read_workspace("demo")
    assert gateway.received[0].values("authorization") == sent


async def test_the_token_shows_in_no_text_of_the_client() -> None:
    client = Client("http://127.0.0.1:1", TOKEN)
    assert repr(client) == "Client('http://127.0.0.1:1')"
    assert TOKEN not in f"{vars(client)} {vars(client._transport)}"


@pytest.mark.parametrize("token", ["", "two words", "ends\n", "ä"])
async def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token: str) -> None:
    async with Client("http://127.0.0.1:1", token) as client:
        with pytest.raises(ValueError, match="access token") as refused:
            await client.read_workspace("demo")
    assert not token or token not in str(refused.value)


async def test_what_would_be_another_call_is_refused_before_anything_is_sent() -> None:
    async with calling(saying(WORKSPACE)) as (client, gateway):
        with pytest.raises(ValueError, match="empty: workspaceId"):
            await client.read_workspace("")
        with pytest.raises(ValueError, match="trailing_data"):
            await client.invoke("demo", "a", "b", b'{},"stream":true')
    assert gateway.received == []


async def test_a_closed_client_sends_nothing_and_a_client_stays_with_its_loop() -> None:
    async with calling(saying(WORKSPACE)) as (client, _):
        await client.read_workspace("demo")

        def elsewhere() -> None:
            with pytest.raises(RuntimeError, match="another event loop"):
                asyncio.run(client.read_workspace("demo"))

        await asyncio.to_thread(elsewhere)
    with pytest.raises(RuntimeError, match="closed"):
        await client.read_workspace("demo")
