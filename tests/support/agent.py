"""A scripted Agent on a real socket: answers or misbehaves as told, Invocation by Invocation, and keeps what it saw."""

import asyncio
import base64
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.peers import Behaviour, Received, listening
from tests.support.waiting import PATIENCE_SECONDS

PROOF_PATH = "/.well-known/platform/challenges/"
_ECHO = b'{"kind":"message","messageId":"m-1","role":"agent","parts":[{"kind":"data","data":%b}]}'

Script = Sequence[Behaviour]


@dataclass(frozen=True)
class Token:
    """A signed token as anyone can read it."""

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes

    @classmethod
    def read(cls, text: str) -> "Token":
        head, claims, signature = text.split(".")
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (head, claims, signature)]
        return cls(json.loads(decoded[0]), json.loads(decoded[1]), f"{head}.{claims}".encode(), decoded[2])


def method_of(request: Received) -> str:
    return str(request.json["method"])


def invocation_of(request: Received) -> str:
    return request.values("x-platform-invocation-id")[0]


def input_of(request: Received) -> bytes:
    """The bytes of the value of the message's one part, data or text."""
    kind, _, rest = request.body.partition(b'"parts":[{"kind":"')[2].partition(b'","')
    assert rest.startswith(kind + b'":')
    return rest[len(kind) + 2 :].rpartition(b"}]}")[0]


def credential_of(request: Received) -> Token:
    (value,) = request.values("authorization")
    assert value.startswith("Bearer ")
    return Token.read(value.removeprefix("Bearer "))


def delegation_of(request: Received) -> Token:
    (value,) = request.values("x-platform-delegation")
    return Token.read(value)


@dataclass
class ScriptedAgent:
    """Each new Invocation takes the next script, or the usual one: a behaviour per request, the last one repeating.

    `tasks/cancel` is no part of a script: `on_cancel` answers it.
    """

    name: str
    port: int = 0
    scheme: str = "http"
    usual: Script = ()
    on_cancel: Behaviour = field(default_factory=lambda: a_task("canceled"))
    proofs: dict[str, str] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    _scripts: deque[Script] = field(default_factory=deque)
    _script_of: dict[str, deque[Behaviour]] = field(default_factory=dict)
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.name}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/a2a"

    def script(self, *behaviours: Behaviour) -> None:
        """What the next Invocation meets."""
        self._scripts.append(behaviours)

    def script_alone(self, *behaviours: Behaviour) -> None:
        """As `script`, also if an earlier Invocation ended on its way here and left its behaviour behind."""
        self._scripts.clear()
        self.script(*behaviours)

    def serve(self, challenge_id: str, proof: str) -> None:
        self.proofs[PROOF_PATH + challenge_id] = proof

    def calls(self, method: str | None = None, invocation_id: str | None = None) -> list[Received]:
        return [
            request
            for request in self.received
            if method in {None, method_of(request)} and invocation_id in {None, invocation_of(request)}
        ]

    def methods(self, invocation_id: str) -> list[str]:
        return [method_of(request) for request in self.calls(None, invocation_id)]

    async def arrival(self, method: str, count: int = 1, seconds: float = PATIENCE_SECONDS) -> Received:
        """The count-th request of this method, waited for."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: len(self.calls(method)) >= count)
        return self.calls(method)[count - 1]

    async def meet(self, request: Received) -> None:
        if request.target.startswith("/.well-known/"):
            proof = self.proofs.get(request.target)
            await request.answer((proof or "").encode(), 404 if proof is None else 200)
            return
        self.received.append(request)
        async with self._arrived:
            self._arrived.notify_all()
        await self._behaviour(request)(request)

    def _behaviour(self, request: Received) -> Behaviour:
        if method_of(request) == "tasks/cancel":
            return self.on_cancel
        behaviours = self._script_of.get(invocation_of(request))
        if behaviours is None:
            script = self._scripts.popleft() if self._scripts else self.usual or (echo,)
            behaviours = self._script_of[invocation_of(request)] = deque(script)
        return behaviours.popleft() if len(behaviours) > 1 else behaviours[0]


def data(value: object) -> dict[str, Any]:
    return {"kind": "data", "data": value}


def text(value: object) -> dict[str, Any]:
    return {"kind": "text", "text": value}


def file(**members: object) -> dict[str, Any]:
    return {"kind": "file", "file": members}


def result_of(value: object) -> Behaviour:
    """A good JSON-RPC response with this result."""

    async def behave(request: Received) -> None:
        body = {"jsonrpc": "2.0", "id": request.json["id"], "result": value}
        await request.answer(json.dumps(body).encode())

    return behave


def a_message(*parts: object, **members: object) -> Behaviour:
    """`members` replaces whole members of the Message; None leaves one out."""
    message = {"kind": "message", "messageId": "m-1", "role": "agent", "parts": list(parts), **members}
    return result_of({name: value for name, value in message.items() if value is not None})


def a_task(state: str, *artifacts: Sequence[object], **members: object) -> Behaviour:
    """A Task with one artifact for each list of parts."""
    named = [{"artifactId": f"a-{number}", "parts": list(parts)} for number, parts in enumerate(artifacts)]
    task = {"kind": "task", "id": "task-7", "contextId": "ctx-1", "status": {"state": state}, "artifacts": named}
    return result_of({**task, **members})


def rpc_error(code: int, message: str = "the Agent's own words") -> Behaviour:
    async def behave(request: Received) -> None:
        error = {"jsonrpc": "2.0", "id": request.json["id"], "error": {"code": code, "message": message}}
        await request.answer(json.dumps(error).encode())

    return behave


def saying(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    """This body, in which `%id%` becomes the id of the request; JSON unless headers are given."""

    async def behave(request: Received) -> None:
        await request.answer(body.replace(b"%id%", str(request.json["id"]).encode()), status, *headers)

    return behave


def chosen(by: Callable[[Received], Behaviour]) -> Behaviour:
    async def behave(request: Received) -> None:
        await by(request)(request)

    return behave


async def echo(request: Received) -> None:
    """The input, byte for byte, as the one data part of a Message."""
    request_id = json.dumps(request.json["id"]).encode()
    await request.answer(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (request_id, _ECHO % input_of(request)))


@asynccontextmanager
async def scripted_agent(
    name: str = "127.0.0.1", address: str = "127.0.0.1", *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedAgent]:
    """Listens on the address; the name is what its URLs say."""
    agent = ScriptedAgent(name, scheme="http" if tls is None else "https")
    async with listening(agent.meet, address, port=port, tls=tls) as agent.port:
        yield agent
