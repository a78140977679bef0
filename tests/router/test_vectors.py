"""The conformance vectors of what Agents say, run against the code over real sockets; and those of the topology."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aop.a2a import requests
from aop.a2a.answers import TASK, AgentFault
from aop.a2a.judge import AgentCanceled, TrackedTask
from aop.base.clock import utc_now
from aop.cards.checks import ANYTHING, SchemaChecks
from aop.cards.workers import SchemaWorkers
from aop.contracts.documents import document
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.signing import SigningKey
from aop.net.http import HttpClient
from aop.net.origin import Endpoint
from aop.net.policy import AllowList, NetworkPolicy, Resolver
from aop.router.a2a.agent import AgentConversation, Agents, AnswerLimits
from aop.router.a2a.credential import Credentials, Issuer
from aop.router.a2a.sending import send_and_follow
from aop.router.a2a.skill_requests import RequestsOfSkills
from aop.router.settings import read_router_settings
from aop.router.targets.topology import Topology, WatchBroken
from aop.router.targets.topology_watch import read_event
from tests.support.agent import ScriptedAgent, method_of, scripted_agent
from tests.support.peers import Behaviour, Received
from tests.support.settings import router_environment
from tests.support.vectors import code_and_reason, each, each_alone
from tests.support.waiting import PATIENCE_SECONDS

Outcome = dict[str, Any]
CONTEXT = InvocationContext(
    Lineage("inv_" + "1" * 32, "task_" + "1" * 32, "1" * 32),
    Pin("space", "acme:agent", "1.0.0", "rel_" + "1" * 32, "0" * 64),
    Caller(type=CallerType.USER, id="alice"),
    "work",
)

# None of these answers is so long that it would be read in a process.
CHECKS = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=1 << 20)
LIMITS = AnswerLimits(8_388_608, 1_048_576)


class Conversing:
    """One Agent, and conversations with it as an Invocation has them."""

    def __init__(self, agent: ScriptedAgent, client: HttpClient, key: SigningKey) -> None:
        self.agent = agent
        host = f"127.0.0.1:{agent.port}"
        policy = NetworkPolicy(AllowList.parse([host]), Resolver())
        issuer = Issuer("http://127.0.0.1:8081", "router-1", "http://127.0.0.1:8081", 60)
        self._agents = Agents(policy, client, RequestsOfSkills(Credentials(issuer, key)), CHECKS, LIMITS)
        self._endpoint = Endpoint.parse(agent.url)

    def conversation(self) -> AgentConversation:
        return AgentConversation(self._agents, self._endpoint, CONTEXT, LIMITS.answer)

    async def outcome(self, *behaviours: Behaviour, schema: bytes = ANYTHING) -> Outcome:
        self.agent.script(*behaviours)
        known = TrackedTask(CONTEXT.lineage.invocation)
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        try:
            values = await send_and_follow(self.conversation(), b"{}", b"delegation", known, deadline)
        except AgentCanceled:
            return {"status": "canceled", "code": "CANCELED"}
        except AgentFault as fault:
            return {"status": "failed", **code_and_reason(fault)}
        for value in values:
            if await CHECKS.conforms(schema, value):
                return {"status": "succeeded", "result": json.loads(value)}
        return {"status": "failed", "code": "A2A_PROTOCOL_ERROR", "reason": "output_schema"}


@pytest_asyncio.fixture
async def conversing() -> AsyncIterator[Conversing]:
    client = HttpClient(idle_seconds=2, connect_seconds=PATIENCE_SECONDS)
    key = read_router_settings(router_environment()).credential.private_key
    async with scripted_agent() as agent:
        yield Conversing(agent, client, key)
        await client.close()


def replying(answer: dict[str, Any], number: int = 1) -> Behaviour:
    """The answer to the request with this number, which stands for its id in the vectors."""
    text = json.dumps(answer["body"]).encode() if "body" in answer else answer.get("text", "").encode()

    async def behave(request: Received) -> None:
        body = text.replace(b'"%d"' % number, json.dumps(request.json["id"]).encode())
        kind = answer.get("contentType")
        lines = [f"content-type: {kind}".encode()] if kind else [b"x-none: 1"]
        await request.answer(body, answer.get("status", 200), *lines)
        if answer.get("status") == 204:
            request.writer.close()

    return behave


@pytest.mark.rows("INV-14", "INV-15", "INV-17", "INV-18", "INV-19", "INV-20", "INV-21")
@each_alone("a2a-send")
async def test_an_exchange_ends_as_its_vector_says(conversing: Conversing, case: dict[str, Any]) -> None:
    schema = json.dumps(case.get("outputSchema", {})).encode()
    answers = (replying(one["answer"], number) for number, one in enumerate(case["exchanges"], 1))
    outcome = await conversing.outcome(*answers, schema=schema)
    assert outcome == case["outcome"]
    assert [method_of(request) for request in conversing.agent.received] == [
        exchange["method"] for exchange in case["exchanges"]
    ]
    for request in conversing.agent.received:
        assert document("a2a-profile/0.2").violations(request.json) == ()


@pytest.mark.rows("INV-20")
@each_alone("json-rpc")
async def test_a_response_is_read_as_its_vector_says(conversing: Conversing, case: dict[str, Any]) -> None:
    outcome = await conversing.outcome(replying({"contentType": case["contentType"], "text": case["text"]}))
    code = {"error": "AGENT_EXECUTION_FAILED", "protocol_error": "A2A_PROTOCOL_ERROR"}.get(case["verdict"])
    assert outcome.get("code") == code == case.get("code")
    assert outcome.get("reason") == case.get("reason")


@pytest.mark.rows("INV-16", "INV-17", "CAN-08")
@each_alone("tasks")
async def test_a_task_exchange_ends_as_its_vector_says(conversing: Conversing, case: dict[str, Any]) -> None:
    asked = case["request"]
    answer = replying({"contentType": "application/json", "body": case["answer"]}, 2)
    working = replying(
        {
            "contentType": "application/json",
            "body": {
                "jsonrpc": "2.0",
                "id": "1",
                "result": {"kind": "task", "id": "task-7", "contextId": "ctx-1", "status": {"state": "working"}},
            },
        }
    )
    if asked["method"] == "tasks/cancel":
        conversing.agent.script(working)
        conversing.agent.on_cancel = answer
        conversation = conversing.conversation()
        request_id, sent = conversation.message(requests.send, b"{}")
        await conversation.ask(sent, request_id, TASK, asyncio.get_running_loop().time() + PATIENCE_SECONDS)
        await conversation.cancel("task-7")
        assert [request.json | {"id": "2"} for request in conversing.agent.received[1:]] == [asked]
        return
    last = replying({"contentType": "application/json", "body": case["answer"] | {"id": "3"}}, 3)
    ended = case["outcome"]["status"] != "running"
    outcome = await conversing.outcome(working, answer, *([] if ended else [last, hang_up]))
    if ended:
        assert outcome == case["outcome"]
        assert [request.json | {"id": "2"} for request in conversing.agent.received[1:]] == [asked]
    else:
        assert outcome["code"] == "AGENT_UNAVAILABLE"
        assert len(conversing.agent.received) == 4


async def hang_up(request: Received) -> None:
    request.writer.close()


@pytest.mark.rows("TOP-06", "TOP-07")
@each("topology")
async def test_a_watch_leaves_the_topology_as_its_vector_says(case: dict[str, Any]) -> None:
    topology = Topology(utc_now)
    _start(topology, case.get("start"))
    topology.connected()
    verdict, lost_at = case["verdict"], None
    for index, frame in enumerate(case["frames"]):
        try:
            topology.take(read_event(json.dumps(frame).encode()))
        except WatchBroken:
            topology.lost()
            lost_at = index
            break
    status = topology.status()
    seen = {item.release_id: str(item.state) for item in status.observations}
    assert {"state": str(status.source.state), "after": topology.after, "releases": seen} == {
        name: verdict[name] for name in ("state", "after", "releases")
    }
    assert lost_at == verdict.get("at")
    assert document("topology-status/1").violations(msgspec.to_builtins(status)) == ()


def _start(topology: Topology, start: dict[str, Any] | None) -> None:
    """What an earlier connection left behind, which has been lost since."""
    if start is not None:
        known = {"schemaVersion": "1", "kind": "snapshot", "revision": start["after"], "releases": start["releases"]}
        topology.connected()
        topology.take(read_event(json.dumps({**known, "complete": True}).encode()))
        topology.lost()
