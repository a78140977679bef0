"""Nested calls for tests: a running parent whose delegation the test holds, and a crew of Agents that call others."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from nacl.signing import SigningKey

from aop.agent import AgentContext, Guard, NestedCallFailed, ProofPage, ReplayMemory, Trust, Verifier
from aop.agent.call.calls import NestedCalls
from aop.agent.guard.guard import SCOPE_KEY
from aop.base.canonical import to_base64url
from aop.base.ids import new_hex_id
from aop.contracts.signing import VerifyKey
from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, listening_socket
from tests.support.agent import Token, invocation_of
from tests.support.loop import CAPABILITY, Platform, invoking
from tests.support.peers import Behaviour, Received, hold
from tests.support.settings import ROUTER_SEED
from tests.support.units import Headers, Reply, RunningUnit

NESTED = "/agent/v1/invocations"
ISSUER = "http://127.0.0.1:8081"
ANY_PORT = '["127.0.0.1"]'
"""An allow-list for Agents whose ports are not known before the units start."""
_KEY = VerifyKey.parse(to_base64url(bytes(SigningKey(ROUTER_SEED).verify_key)))


def nested_body(agent_id: str, content: bytes = b"{}", **members: Any) -> bytes:
    """The body of a child call; a member that is None is left out."""
    wanted = {"targetAgentId": agent_id, "capability": CAPABILITY, "stream": False, **members}
    kept = {name: value for name, value in wanted.items() if value is not None}
    return json.dumps(kept).encode()[:-1] + b', "input": ' + content + b"}"


@dataclass(frozen=True)
class Parent:
    """A running Invocation; the test is its Agent and may call others for it."""

    request: Received
    router: RunningUnit
    target: str
    caller: "asyncio.Task[int]"

    @property
    def invocation_id(self) -> str:
        return invocation_of(self.request)

    @property
    def delegation(self) -> str:
        (value,) = self.request.values("x-platform-delegation")
        return value

    @property
    def claims(self) -> dict[str, Any]:
        return Token.read(self.delegation).claims

    async def call(
        self, agent_id: str | None = None, content: bytes = b"{}", *, headers: Headers = (), **members: Any
    ) -> Reply:
        body = nested_body(agent_id or self.target, content, **members)
        return await self.router.post(NESTED, body, token=self.delegation, headers=headers)


@asynccontextmanager
async def running_parent(platform: Platform, *script: Behaviour, **members: Any) -> AsyncIterator[Parent]:
    """Held by its Agent unless a script says otherwise; its caller leaves at the end of the scope."""
    platform.agent.script(*(script or (hold,)))
    method = "message/stream" if members.get("stream") else "message/send"
    number = len(platform.agent.calls(method)) + 1
    async with invoking(platform, **members) as caller:
        request = await platform.agent.arrival(method, number)
        yield Parent(request, platform.router, platform.card["agentId"], caller)


@asynccontextmanager
async def asking_child(parent: Parent, **members: Any) -> AsyncIterator["asyncio.Task[Reply]"]:
    """A child call whose caller leaves at the end of the scope."""
    accept = b"text/event-stream" if members.get("stream") else b"application/json"
    task = asyncio.create_task(parent.call(headers=((b"accept", accept),), **members))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


Act = Callable[[AgentContext, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Member:
    act: Act
    patience: float


@dataclass
class Crew:
    """Guarded Agents behind one endpoint; each runs its act with the kit's context and its input.

    An act that outlasts the patience of its Agent is answered as a working Task, which tasks/cancel ends.
    """

    platform: Platform
    url: str
    seen: list[tuple[str, AgentContext]] = field(default_factory=list)
    _members: dict[str, Member] = field(default_factory=dict)
    _tasks: dict[str, "asyncio.Task[Any]"] = field(default_factory=dict)

    async def hire(self, act: Act, *, patience: float = 20.0, **members: Any) -> str:
        """Publishes and installs another Agent: its id."""
        protocol = {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": self.url}
        card, _, _ = await self.platform.installed(protocol=protocol, **members)
        agent_id = str(card["agentId"])
        self._members[agent_id] = Member(act, patience)
        return agent_id

    def methods(self, invocation_id: str) -> list[str]:
        return [method for method, context in self.seen if context.invocation_id == invocation_id]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context: AgentContext = scope[SCOPE_KEY]
        request = json.loads((await receive())["body"])
        self.seen.append((request["method"], context))
        if request["method"] == "message/send":
            result = await self._begun(context, request["params"]["message"]["parts"][0]["data"], receive)
        else:
            result = await self._existing_task(request["method"], request["params"]["id"])
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _begun(self, context: AgentContext, skill_input: Any, receive: Receive) -> Any:
        member, task_id = self._members[context.agent_id], new_hex_id()
        task = self._tasks[task_id] = asyncio.create_task(self._acted(member.act(context, skill_input)))
        leaving = asyncio.ensure_future(receive())
        await asyncio.wait({task, leaving}, timeout=member.patience, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            task.cancel()
        leaving.cancel()
        await asyncio.wait({leaving})
        return _task_document(task_id, task)

    async def _existing_task(self, method: str, task_id: str) -> Any:
        task = self._tasks[task_id]
        if method == "tasks/cancel":
            task.cancel()
            await asyncio.wait({task})
        return _task_document(task_id, task)

    async def _acted(self, act: Awaitable[Any]) -> Any:
        try:
            return await act
        except NestedCallFailed as failed:
            return failed


def _task_document(task_id: str, task: "asyncio.Task[Any]") -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": "task", "id": task_id, "contextId": "ctx", "status": {"state": "working"}}
    if task.cancelled():
        shown["status"]["state"] = "canceled"
    elif task.done() and isinstance(task.result(), NestedCallFailed):
        shown["status"]["state"] = "failed"
    elif task.done():
        shown["status"]["state"] = "completed"
        shown["artifacts"] = [{"artifactId": "a", "parts": [{"kind": "data", "data": task.result()}]}]
    return shown


@asynccontextmanager
async def running_crew(platform: Platform) -> AsyncIterator[Crew]:
    """The platform's units must allow Agents on any port of this machine."""
    listener = listening_socket("127.0.0.1", 0)
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    crew, calls = Crew(platform, f"{origin}/a2a"), NestedCalls(platform.router.origin)
    trust = Trust(issuer=ISSUER, audience=origin, key_id="router-1", public_key=_KEY)
    server = HttpServer(Guard(crew, Verifier(trust, ReplayMemory()), calls, ProofPage()))
    await server.start([listener])
    try:
        yield crew
    finally:
        await crew.close()
        await calls.close()
        with suppress(TimeoutError):
            await server.stop(1)


def a_message_stream(*values: object) -> Behaviour:
    """A message-only stream of these values, whole at once."""

    async def behave(request: Received) -> None:
        body = b"".join(_event(request, _message(value)) for value in values)
        await request.answer(body, 200, b"content-type: text/event-stream")

    return behave


async def streaming_task(request: Received) -> None:
    """A stream that names its Task and then says nothing more."""
    task = {"kind": "task", "id": "task-7", "contextId": "ctx-1", "status": {"state": "working"}}
    await request.send(b"HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\n\r\n" + _event(request, task))
    await request.wait_for_leaving()
    request.writer.close()


def _message(value: object) -> dict[str, Any]:
    return {"kind": "message", "messageId": "m-1", "role": "agent", "parts": [{"kind": "data", "data": value}]}


def _event(request: Received, result: object) -> bytes:
    return b"data: %b\n\n" % json.dumps({"jsonrpc": "2.0", "id": request.json["id"], "result": result}).encode()
