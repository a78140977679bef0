"""Every way an Agent can fail an accepted Invocation: recorded, correlated, and not a word of the Agent's own."""

import asyncio
import json
import socket

import pytest

from aop.contracts.errors import ErrorCode, Reason, code_entries, reason_pairs
from aop.router.app import RouterEnvironment
from tests.loop.bad_answers import CANARY, FAILURES, SAID, status
from tests.loop.test_lineage_reads import stored_text
from tests.support.agent import a_message, a_task, data, result_of, rpc_error, saying, text
from tests.support.canaries import require_absent
from tests.support.loop import SILENT_HOST, Changes, Platform, running_platform
from tests.support.peers import Behaviour, reset, sending
from tests.support.postgres import PostgresForTests
from tests.support.stream import streaming
from tests.support.vectors import cases
from tests.support.waiting import generous

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("INV-18", "INV-19", "INV-20", "INV-21", "INV-32", "AUTH-14", "REAS-01", "REAS-03", "FOR-04")
@pytest.mark.parametrize(
    ("code", "reason", "behaviour"),
    [
        pytest.param(code, reason, behaviour, id=f"{code}: {name}")
        for (code, reason), rows in FAILURES.items()
        for name, behaviour in rows.items()
    ],
)
async def test_a_bad_answer_ends_the_invocation_with_its_code_and_reason(
    platform: Platform, code: str, reason: str | None, behaviour: Behaviour
) -> None:
    platform.agent.script(behaviour)
    reply = await platform.invoke(b'{"secret":"canary-of-the-caller"}')
    await platform.require_failed(reply, code_entries()[ErrorCode(code)].status, code)
    assert reply.json.get("reason") == reason
    assert b"canary" not in reply.body
    assert b":%d" % platform.agent.port not in reply.body, "an address of the Agent is told to nobody"
    sent = platform.agent.methods(reply.json["invocationId"])
    assert sent.count("message/send") == 1, "nothing is sent twice"
    assert {request.target for request in platform.agent.calls(None, reply.json["invocationId"])} == {"/a2a"}


@pytest.mark.rows("INV-17", "FOR-04", "REAS-01")
@pytest.mark.parametrize(
    ("then", "number", "code", "reason", "cancels"),
    [
        (rpc_error(-32001), 502, "AGENT_EXECUTION_FAILED", "rpc_error", 0),
        (reset, 503, "AGENT_UNAVAILABLE", "transfer_broken", 0),
        (status(500), 503, "AGENT_UNAVAILABLE", "http_server_error", 0),
        (a_task("working", id="task-8"), 502, "A2A_PROTOCOL_ERROR", "task_changed", 1),
        (a_message(data(1)), 502, "A2A_PROTOCOL_ERROR", "task_shape", 1),
        (a_task("resting"), 502, "A2A_PROTOCOL_ERROR", "task_state_unknown", 1),
        (a_task("input-required"), 502, "AGENT_EXECUTION_FAILED", "input_required", 1),
        (a_task("auth-required"), 502, "AGENT_EXECUTION_FAILED", "auth_required", 1),
        (saying(b" " * 1_048_577), 502, "AGENT_RESPONSE_TOO_LARGE", "body_size", 1),
        (a_task("failed"), 502, "AGENT_EXECUTION_FAILED", "task_failed", 0),
        (a_task("canceled"), 409, "CANCELED", None, 0),
    ],
)
async def test_a_failed_look_at_a_task_is_an_outcome_and_not_a_reason_to_look_again(
    platform: Platform, then: Behaviour, number: int, code: str, reason: str | None, cancels: int
) -> None:
    platform.agent.script(a_task("working"), then)
    reply = await platform.invoke()
    await platform.require_failed(reply, number, code)
    assert reply.json.get("reason") == reason
    await asyncio.sleep(0.12)
    expected = ["message/send", "tasks/get", *["tasks/cancel"] * cancels]
    assert platform.agent.methods(reply.json["invocationId"]) == expected


@pytest.mark.rows("INV-18", "REAS-01")
async def test_an_agent_out_of_reach_is_unavailable_and_one_that_may_not_be_reached_has_no_route(
    platform: Platform,
) -> None:
    for host, code, reason in (
        (SILENT_HOST, "AGENT_UNAVAILABLE", "connect_failed"),
        ("127.0.0.8", "ROUTE_NOT_FOUND", "address_refused"),
    ):
        protocol = {**platform.card["protocol"], "endpoint": f"http://{host}:9/a2a"}
        card, _, _ = await platform.installed(protocol=protocol)
        reply = await platform.invoke(agentId=card["agentId"])
        await platform.require_failed(reply, 503, code)
        assert reply.json["reason"] == reason


@pytest.mark.rows("INV-22")
async def test_an_answer_over_the_smaller_limit_is_too_large(platform: Platform) -> None:
    limits = {**platform.card["limits"], "maxOutputBytes": 200}
    card, _, _ = await platform.installed(limits=limits)
    for behaviour in (
        a_message(text("x" * 200)),
        sending(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            + b"64\r\n"
            + b" " * 100
            + b"\r\n64\r\n"
            + b" " * 100
            + b"\r\n1\r\n \r\n"
        ),
        sending(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 201\r\n\r\n"),
    ):
        platform.agent.script(behaviour)
        reply = await platform.invoke(agentId=card["agentId"])
        await platform.require_failed(reply, 502, "AGENT_RESPONSE_TOO_LARGE")
        assert reply.json["reason"] == "body_size"


@pytest.mark.rows("INV-23")
@pytest.mark.parametrize("kind", ["none", "api_key", "oauth2_client_credentials", "mutual_tls"])
async def test_only_the_routers_own_credential_is_offered(platform: Platform, kind: str) -> None:
    card, _, _ = await platform.installed(authentication={"type": kind})
    heard = len(platform.agent.received)
    reply = await platform.invoke(agentId=card["agentId"])
    await platform.require_failed(reply, 502, "AGENT_AUTH_UNSUPPORTED", "created", "routing")
    assert len(platform.agent.received) == heard


@pytest.mark.rows("INV-24", "INV-18", "REAS-01")
async def test_a_name_that_now_leads_elsewhere_is_not_dialed(postgres: PostgresForTests) -> None:
    answers = {"agent.test": ["127.0.0.1"]}

    def look_up(host: str) -> list[str]:
        if not answers[host]:
            raise OSError("no such name")
        return answers[host]

    stores = await postgres.new_platform()
    limits = Changes(environment=RouterEnvironment(lookup=look_up), agent_name="agent.test")
    for refused, code, reason in (
        (["127.0.0.1", "8.8.8.8"], "ROUTE_NOT_FOUND", "address_refused"),
        ([], "AGENT_UNAVAILABLE", "name_not_resolved"),
    ):
        answers["agent.test"] = refused
        async with running_platform(stores if refused else await postgres.new_platform(), limits) as platform:
            reply = await platform.invoke()
            await platform.require_failed(reply, 503, code)
            assert reply.json["reason"] == reason
            assert platform.agent.received == []


async def test_a_connection_that_does_not_come_about_in_time_is_unavailable(postgres: PostgresForTests) -> None:
    settings = {"PLATFORM_ROUTER_CONNECT_TIMEOUT_MS": "150"}
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.2", 0))
        full.listen(0)
        first.connect(full.getsockname())
        others = [socket.socket() for _ in range(2)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        host = f"127.0.0.2:{full.getsockname()[1]}"
        settings["PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON"] = json.dumps([host])
        protocol = {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": f"http://{host}/a2a"}
        changes = Changes(router=settings, card={"protocol": protocol})
        async with running_platform(await postgres.new_platform(), changes) as platform:
            detail = await platform.require_failed(await platform.invoke(), 503, "AGENT_UNAVAILABLE")
            assert 140 <= detail["invocation"]["latencyMs"] < generous(1500)
        for other in others:
            other.close()


TELLING: dict[str, Behaviour] = {
    "JSON-RPC error": saying(
        b'{"jsonrpc":"2.0","id":"%id%","error":{"code":-31337,"message":"canary-of-the-agent","data":"canary-of-the-agent"}}'
    ),
    "task failed": a_task("failed", status={"state": "failed", "message": SAID}),
    "input required": a_task("input-required", status={"state": "input-required", "message": SAID}),
    "made-up state": a_task(CANARY),
    "made-up kind": result_of({"kind": CANARY}),
    "not JSON": saying(CANARY.encode()),
    "error page": saying(CANARY.encode(), 500, b"x-cause: canary-of-the-agent"),
    "redirect": status(302, b"location: /canary-of-the-agent"),
    "reason phrase": sending(b"HTTP/1.1 418 canary-of-the-agent\r\ncontent-length: 0\r\n\r\n"),
}


@pytest.mark.rows("REAS-02")
async def test_no_word_or_number_of_an_agent_that_fails_is_anywhere(
    platform: Platform, capfd: pytest.CaptureFixture[str]
) -> None:
    said = []
    for behaviour in TELLING.values():
        platform.agent.script(behaviour)
        reply = await platform.invoke()
        detail = await platform.detail(reply.json["invocationId"])
        platform.agent.script(behaviour)
        async with streaming(platform) as caller:
            await caller.whole()
        assert {reply.json.get("reason"), caller.events[-1]["error"].get("reason")} <= {str(one) for one in Reason}
        said += [reply.body.decode(), json.dumps(detail), caller.body.decode()]
    stored = await stored_text(platform.stores.migration)
    assert all(reason in stored for reason in ("rpc_error", "task_failed", "http_redirect"))
    said.append(stored)
    said += [(await unit.get("/metrics")).body.decode() for unit in (platform.gateway, platform.router)]
    secrets = {"words": CANARY, "number": "-31337", "path": "/canary-of-the-agent"}
    require_absent(secrets, "answers, stores, metrics and logs", "\n".join([*said, "".join(capfd.readouterr())]))


@pytest.mark.rows("REAS-01")
async def test_an_agent_without_the_tls_that_its_card_promises_is_unavailable_in_both_modes(platform: Platform) -> None:
    protocol = {**platform.card["protocol"], "endpoint": f"https://127.0.0.1:{platform.agent.port}/a2a"}
    card, _, _ = await platform.installed(protocol=protocol)
    reply = await platform.invoke(agentId=card["agentId"])
    await platform.require_failed(reply, 503, "AGENT_UNAVAILABLE")
    async with streaming(platform, agentId=card["agentId"]) as caller:
        told = (await caller.whole())["error"]
    assert (reply.json["reason"], told["reason"]) == ("tls_failed", "tls_failed")


async def test_every_reason_between_router_and_agent_is_provoked() -> None:
    """In these tables, in the vectors that the tests of streams play, or in the tests named beside the rest."""
    elsewhere = {
        *("tls_failed", "connect_failed", "name_not_resolved", "address_refused"),  # in this file
        *("streaming_not_declared", "frame_size", "event_size"),  # test_streams_failures, test_stream_limits
        *("schema_work", "output_schema"),  # test_schema_work, test_results
    }
    played = {str(case["outcome"]["reason"]) for case in cases("a2a-stream") if "reason" in case["outcome"]}
    answered = {reason for _, reason in FAILURES if reason is not None}
    codes = {"AGENT_UNAVAILABLE", "ROUTE_NOT_FOUND", "AGENT_EXECUTION_FAILED", "A2A_PROTOCOL_ERROR"}
    listed = {str(reason) for code, reason in reason_pairs() if code in codes | {"AGENT_RESPONSE_TOO_LARGE"}}
    assert played | answered | elsewhere == listed
