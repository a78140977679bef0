"""What the Gateway makes of its Router: absent, silent, or saying what it should not."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio

from aop.base.settings import Secret
from aop.contracts.errors import ErrorCode, code_entries
from aop.control_plane.dispatch.invocations import GUARD_SECONDS
from aop.control_plane.dispatch.router_client import READ_SECONDS, RouterClient, RouterUnavailable
from aop.control_plane.settings import ControlPlaneSettings
from aop.local.ports import any_free_port
from aop.net.http import HttpClient
from aop.net.peer import Peer
from aop.net.policy import Resolver
from tests.support.errors import require_error
from tests.support.loop import SPACE, Changes, Platform, gateway_alone, invoking
from tests.support.peers import Behaviour, Received, hold, listening, reset
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")

IDS = ("invocationId", "rootTaskId")
OTHER: dict[str, Any] = {"invocationId": "inv_" + "e" * 32, "rootTaskId": "task_" + "e" * 32, "traceId": "f" * 32}


@dataclass
class ScriptedRouter:
    behave: Behaviour = hold
    received: list[Received] = field(default_factory=list)

    async def meet(self, request: Received) -> None:
        self.received.append(request)
        await self.behave(request)


@pytest.fixture(scope="module")
def router() -> ScriptedRouter:
    return ScriptedRouter()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(postgres: PostgresForTests, router: ScriptedRouter) -> AsyncIterator[Platform]:
    settings = {
        "PLATFORM_GATEWAY_RESULT_MAX_BYTES": "2000",
        "PLATFORM_METADATA_RESPONSE_MAX_BYTES": "2000",
        "PLATFORM_INVOCATION_DEADLINE_MS": "1",
    }
    stores = await postgres.new_platform()
    async with listening(router.meet) as port, gateway_alone(stores, port, Changes(control_plane=settings)) as alone:
        yield alone


def id_lines(request: Received, *, trace: str | None = None) -> list[bytes]:
    named = request.json
    return [
        f"x-platform-trace-id: {trace or named['traceId']}".encode(),
        f"x-platform-invocation-id: {named['invocationId']}".encode(),
        f"x-platform-root-task-id: {named['rootTaskId']}".encode(),
    ]


def result_body(request: Received, **members: object) -> bytes:
    named = {name: request.json[name] for name in ("invocationId", "rootTaskId", "traceId")}
    return json.dumps({"schemaVersion": "1", **named, "status": "succeeded", "result": 1, **members}).encode()


def error_body(request: Received, code: str, correlated: bool, /, **members: object) -> bytes:
    names = ("traceId", *IDS) if correlated else ("traceId",)
    named = {name: request.json[name] for name in names}
    return json.dumps({"code": code, "message": code_entries()[ErrorCode(code)].message, **named, **members}).encode()


def result(lines: Callable[[Received], list[bytes]] = id_lines, **members: object) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(result_body(request, **members), 200, b"content-type: application/json", *lines(request))

    return behave


def error(code: str, /, *, correlated: bool = False, status: int | None = None, **members: object) -> Behaviour:
    async def behave(request: Received) -> None:
        lines = id_lines(request) if correlated else id_lines(request)[:1]
        body = error_body(request, code, correlated, **members)
        number = status or code_entries()[ErrorCode(code)].status
        await request.answer(body, number, b"content-type: application/json", *lines)

    return behave


def raw(content: bytes, *, ended: bool = True) -> Behaviour:
    """An accepted head, then this much of a body, and the end of the connection or nothing more."""

    async def behave(request: Received) -> None:
        head = [b"HTTP/1.1 200 Said", b"content-type: application/json", b"content-length: 300", *id_lines(request)]
        await request.send(b"\r\n".join([*head, b"", content]))
        await (asyncio.sleep(0) if ended else request.wait_for_leaving())
        request.writer.close()

    return behave


WITHOUT_IDS: dict[str, Behaviour] = {
    "wrong trace": result(lambda request: id_lines(request, trace="f" * 32)),
    "no trace": result(lambda request: id_lines(request)[1:]),
    "two traces": result(lambda request: [*id_lines(request), id_lines(request)[0]]),
    "result without id headers": result(lambda request: id_lines(request)[:1]),
    "one id header": result(lambda request: id_lines(request)[:2]),
    "ids of another": result(lambda request: [id_lines(request)[0], b"x-platform-invocation-id: inv_" + b"0" * 32]),
    "refused the token": error("UNAUTHENTICATED"),
    "did not know the token": error("FORBIDDEN"),
    "not found": error("NOT_FOUND"),
    "conflict": error("CONFLICT"),
    "violations of the dispatch": error("VALIDATION_ERROR", violations=[{"pointer": "/caller", "rule": "type"}]),
    "no violations": error("VALIDATION_ERROR"),
    "other status": error("OVERLOADED", status=500),
    "other message": error("OVERLOADED", message="Come back later."),
    "unknown code": error("OVERLOADED", code="MADE_UP"),
    "code of another envelope": error("WRONG_PROOF"),
    "ids without acceptance": error("DEPENDENCY_ERROR", **OTHER),
    "after-acceptance code without ids": error("TIMEOUT"),
    "unknown member": error("OVERLOADED", hint="x"),
    "reset": reset,
    "redirect": error("OVERLOADED", status=302),
    "reason of another code": error("DEPENDENCY_ERROR", reason="input_size"),
    "reason of a code without any": error("OVERLOADED", reason="store_unavailable"),
    "unknown reason": error("DEPENDENCY_ERROR", reason="the text of an Agent"),
}
# The Router said so itself, in its form before acceptance: nothing was accepted, which is known.
REFUSED = frozenset(
    {
        *("refused the token", "did not know the token", "not found", "conflict"),
        *("violations of the dispatch", "no violations"),
    }
)
WITH_IDS: dict[str, Behaviour] = {
    "breaks off after the id headers": raw(b""),
    "breaks off inside the body": raw(b'{"schemaVersion":"1"'),
    "other invocation in the body": result(invocationId=OTHER["invocationId"]),
    "other root task in the body": result(rootTaskId=OTHER["rootTaskId"]),
    "other trace in the body": result(traceId=OTHER["traceId"]),
    "unknown member": result(extra=1),
    "not succeeded": result(status="failed"),
    "too large": result(result="x" * 2000),
    "error too large": error("TIMEOUT", correlated=True, message="x" * 70_000),
    "before-acceptance code": error("NOT_ACCEPTABLE", correlated=True),
    "error ids of another": error("TIMEOUT", correlated=True, **OTHER),
    "error of another status": error("TIMEOUT", correlated=True, status=500),
    "reason of another code": error("AGENT_UNAVAILABLE", correlated=True, reason="schema_work"),
}


@pytest.mark.rows("INV-29", "SAFE-12")
@pytest.mark.parametrize("name", [*WITHOUT_IDS, *(f"accepted, then {name}" for name in WITH_IDS)])
async def test_a_wrong_answer_of_the_router_is_a_dependency_error(
    gateway: Platform, router: ScriptedRouter, name: str
) -> None:
    correlated = name.startswith("accepted, then ")
    router.behave = WITH_IDS[name.removeprefix("accepted, then ")] if correlated else WITHOUT_IDS[name]
    count = len(router.received)
    reply = await gateway.invoke()
    known = correlated or name in REFUSED
    require_error(reply, 503, "DEPENDENCY_ERROR", "4", None if known else "acceptance_unknown")
    (request,) = router.received[count:]
    assert reply.json["traceId"] == request.json["traceId"]
    expected = {item: request.json[item] for item in IDS} if correlated else {}
    assert {item: reply.json[item] for item in IDS if item in reply.json} == expected


@pytest.mark.rows("INV-29", "INV-32")
@pytest.mark.parametrize(
    ("code", "correlated", "reason"),
    [
        ("OVERLOADED", False, None),
        ("DEPENDENCY_ERROR", False, None),
        ("DEPENDENCY_ERROR", False, "acceptance_unknown"),
        ("AGENT_RELEASE_SUSPENDED", False, None),
        ("PAYLOAD_TOO_LARGE", False, None),
        ("PAYLOAD_TOO_LARGE", False, "schema_work"),
        ("DEPENDENCY_ERROR", True, None),
        ("TIMEOUT", True, None),
        ("CANCELED", True, None),
        ("AGENT_UNAVAILABLE", True, None),
        ("AGENT_RESPONSE_TOO_LARGE", True, "schema_work"),
        ("INTERNAL_ERROR", True, None),
    ],
)
async def test_a_right_error_of_the_router_passes_as_it_is(
    gateway: Platform, router: ScriptedRouter, code: str, correlated: bool, reason: str | None
) -> None:
    members: dict[str, Any] = {} if reason is None else {"reason": reason}
    router.behave = error(code, correlated=correlated, **members)
    reply = await gateway.invoke()
    require_error(reply, code_entries()[ErrorCode(code)].status, code, "4", reason)
    assert reply.body == error_body(router.received[-1], code, correlated, **members)
    assert reply.header("retry-after") == ("1" if code == "OVERLOADED" else None)


async def test_the_dispatch_is_what_the_contract_says(gateway: Platform, router: ScriptedRouter) -> None:
    router.behave = result()
    content = b'{ "n" : 1.10, "e":1e400 }'
    reply = await gateway.invoke(content)
    assert reply.status == 200, reply.body
    request = router.received[-1]
    assert (request.verb, request.target) == ("POST", "/internal/v1/invocations")
    assert request.values("x-platform-trace-id") == [reply.json["traceId"]]
    assert request.values("accept") == ["application/json"]
    assert len(request.values("authorization")) == 1
    assert b'"input":' + content in request.body
    assert {name: value for name, value in request.json.items() if name not in {*IDS, "traceId", "input"}} == {
        "workspaceId": SPACE,
        "targetAgentId": "acme:agent",
        "capability": "work",
        "caller": {"type": "user", "id": "alice"},
        "agentCardVersion": "1.0.0",
        "agentReleaseId": gateway.release.release_id,
        "agentCardDigest": gateway.release.card_digest,
        "stream": False,
    }


@pytest.mark.rows("TMO-06")
async def test_a_silent_router_is_a_dependency_error_and_no_timeout(
    postgres: PostgresForTests, router: ScriptedRouter
) -> None:
    def hasty(settings: ControlPlaneSettings) -> ControlPlaneSettings:
        """As if the longest deadline lay so far back that 0.3 s of the guard are left."""
        unit = replace(settings.unit, invocation_deadline_ms=int(300 - GUARD_SECONDS * 1000))
        return replace(settings, unit=unit)

    assert (GUARD_SECONDS, READ_SECONDS) == (15.0, 30.0)
    router.behave = hold
    stores = await postgres.new_platform()
    async with listening(router.meet) as port, gateway_alone(stores, port, Changes(adjust=hasty)) as gateway:
        reply = await gateway.invoke()
        await gateway.require_refused(reply, 503, "DEPENDENCY_ERROR", 0)
        assert reply.json["reason"] == "acceptance_unknown"
        router.behave = raw(b"", ended=False)
        reply = await gateway.invoke()
        require_error(reply, 503, "DEPENDENCY_ERROR", "4")
        assert reply.json["invocationId"] == router.received[-1].json["invocationId"]


@pytest.mark.rows("TMO-06")
async def test_a_stalled_read_of_the_router_is_given_up(router: ScriptedRouter) -> None:
    router.behave = hold
    client = HttpClient(idle_seconds=1, connect_seconds=1)
    async with listening(router.meet) as port:
        peer = Peer(f"http://127.0.0.1:{port}", client, Resolver())
        with pytest.raises(RouterUnavailable):
            await RouterClient(peer, Secret("token"), 100).read("/internal/v1/workspaces/a/traces/b", 0.1)
        await client.close()


@pytest.mark.rows("CAN-04")
async def test_the_gateway_leaves_its_router_within_a_second_of_its_caller(
    gateway: Platform, router: ScriptedRouter
) -> None:
    router.behave = hold
    count = len(router.received)

    async def heard() -> bool:
        return len(router.received) > count

    async with invoking(gateway):
        await becomes_true(heard)
    async with promptly(1):
        await router.received[-1].left.wait()


READS = ("/invocations", f"/invocations/{OTHER['invocationId']}", f"/traces/{OTHER['traceId']}")


def saying(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(body, status, *headers)

    return behave


@pytest.mark.rows("INV-29", "LED-11")
@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize(
    "behave",
    [
        saying(b"{}"),
        saying(b'{"items":[],"extra":1}'),
        saying(b'{"items":[],"items":[]}'),
        saying(b'{"items":[{}]}'),
        saying(b'{"items":[]}', 200, b"content-type: text/html"),
        saying(b'{"items":[' + b" " * 2000 + b"]}"),
        saying(b"{}", 500),
        saying(b"{}", 401),
        saying(b"{}", 302, b"location: /elsewhere"),
        saying(b'{"violations":[{"pointer":"/limit","rule":"query_value"}]}', 400),
        saying(b"not JSON", 404),
        reset,
    ],
)
async def test_a_wrong_read_of_the_router_is_never_absence_or_success(
    gateway: Platform, router: ScriptedRouter, path: str, behave: Behaviour
) -> None:
    router.behave = behave
    reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=gateway.token)
    require_error(reply, 503, "DEPENDENCY_ERROR", "4")


@pytest.mark.rows("INV-26", "LED-11")
async def test_without_a_router_nothing_is_known_and_nothing_was_begun(postgres: PostgresForTests) -> None:
    async with gateway_alone(await postgres.new_platform(), any_free_port()) as gateway:
        for stream in (False, True):
            accept = b"text/event-stream" if stream else b"application/json"
            reply = await gateway.invoke(stream=stream, headers=((b"accept", accept),))
            await gateway.require_refused(reply, 503, "DEPENDENCY_ERROR", 0)
            assert reply.json["reason"] == "router_unreachable"
        for path in READS:
            reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=gateway.token)
            require_error(reply, 503, "DEPENDENCY_ERROR", "4")
