"""The Agents of a simulated world, in place of the Router's HTTP client: scripts say what a request meets, and when."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from aop.base.canonical import from_base64url
from aop.net.http import AnswerTooLarge, ConnectFailed, HttpTimeout, TakePiece, TransferBroken
from aop.net.http.message import HeaderLookup
from proof.record import AgentCall
from tests.ledger.simulated.loop import History

_JSON = ((b"content-type", b"application/json"),)
_EVENTS = ((b"content-type", b"text/event-stream"),)
OF_TASK = {"taskId": "t", "contextId": "c"}
_NAMES_TASK = ('"taskId"', '"kind": "task"')

Calls = Callable[[str, str], Awaitable[None]]
"""An Agent calls another one: the name of the child's Invocation and the delegation it was given."""


@dataclass(frozen=True)
class Step:
    """After a pause: one of the words below, or the bytes of an answer or of a piece of a stream."""

    pause: float
    says: str


@dataclass(frozen=True)
class Script:
    """`ends` is how an Invocation ends that nothing else disturbs; `chunks` how many it then has."""

    kind: str
    steps: Sequence[Step]
    ends: str
    child: str | None = None
    chunks: int = 0


BREAKS: dict[str, Callable[[], Exception]] = {
    "!connect": lambda: ConnectFailed("connect", "ConnectionRefusedError"),
    "!broken": lambda: TransferBroken("the connection was lost"),
    "!large": lambda: AnswerTooLarge("body", 200),
}


@dataclass
class Seen:
    """What the Agent saw of one Invocation."""

    releases: set[tuple[str, str]] = field(default_factory=set)
    named_at: float | None = None
    """When its answer first named a Task."""
    finished_at: float | None = None
    """When the last word of the script was told."""


class SimulatedAgents:
    """Answers the requests of every Invocation by its script; `tasks/cancel` is answered, or not, as chance has it.

    The time of a call is its place in the history.
    """

    def __init__(self, scripts: dict[str, Script], seed: int, history: History, calls: Calls) -> None:
        self._scripts = scripts
        self._random = random.Random(seed)
        self._history = history
        self._calls = calls
        self._names: dict[str, str] = {}
        self._next_step: Counter[str] = Counter()
        self.seen: dict[str, Seen] = {}
        self.calls: list[AgentCall] = []

    async def open(
        self, target: Any, method: str, request: bytes, deadline: float, max_body: int, *, whole: bool = False
    ) -> "SimulatedAnswer | SimulatedStream":
        name, call_id, rpc = await self._receive(request, deadline)
        if rpc == "tasks/cancel":
            await _by(deadline, asyncio.sleep(self._random.choice((0.0, 0.2, 5.0))))
            return SimulatedAnswer(200, b"{}")
        if whole:
            says = await self._tell(name, deadline)
            status = int(says[1:]) if says[:1] == "#" else 200
            return SimulatedAnswer(status, says.replace("%id%", call_id).encode())
        status = 200
        if self._scripts[name].steps[0].says[:1] in {"#", "!"}:
            status = int((await self._tell(name, deadline))[1:])

        async def piece() -> bytes:
            if self._next_step[name] == len(self._scripts[name].steps):
                raise StopAsyncIteration
            return (await self._tell(name, deadline)).replace("%id%", call_id).encode()

        return SimulatedStream(status, piece)

    async def _receive(self, request: bytes, deadline: float) -> tuple[str, str, str]:
        """The name of the Invocation, the id of the request, the JSON-RPC method; a child is called for a message."""
        head, _, body = request.partition(b"\r\n\r\n")
        lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        call = msgspec.json.decode(body)
        invocation, rpc = lines[b"x-platform-invocation-id"].decode(), call["method"]
        if invocation not in self._names:
            self._names[invocation] = call["params"]["message"]["parts"][0]["data"]["name"]
        name = self._names[invocation]
        seen = self.seen.setdefault(name, Seen())
        self._history.note(name, "agent got", rpc)
        if not self._history.is_over:
            claims = msgspec.json.decode(from_base64url(lines[b"authorization"].decode().split(".")[1]))
            self.calls.append(AgentCall(len(self._history.happened), rpc, invocation, claims["jti"]))
            seen.releases.add((claims["releaseId"], claims["cardDigest"]))
        child = self._scripts[name].child
        if child is not None and rpc.startswith("message/"):
            await _by(deadline, self._calls(child, lines[b"x-platform-delegation"].decode("ascii")))
        return name, str(call["id"]), rpc

    async def _tell(self, name: str, deadline: float) -> str:
        """The next step of the script, of which the last is told for ever."""
        steps = self._scripts[name].steps
        step = steps[min(self._next_step[name], len(steps) - 1)]
        self._next_step[name] += 1
        await _by(deadline, asyncio.sleep(step.pause))
        if step.says in BREAKS:
            raise BREAKS[step.says]()
        self.note_answer(name, step.says, is_last=self._next_step[name] >= len(steps))
        return step.says

    def note_answer(self, name: str, says: str, *, is_last: bool) -> None:
        seen, now = self.seen[name], self._history.loop.time()
        if seen.named_at is None and any(mark in says for mark in _NAMES_TASK):
            seen.named_at = now
        if is_last and seen.finished_at is None:
            seen.finished_at = now


class SimulatedAnswer(HeaderLookup):
    headers = _JSON

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self._body = body

    def rest(self) -> bytes:
        return self._body

    def close(self) -> None:
        """As `leave`."""

    def leave(self) -> None:
        """Requests of a script have no connection."""


class SimulatedStream(HeaderLookup):
    headers = _EVENTS

    def __init__(self, status: int, piece: Callable[[], Awaitable[bytes]]) -> None:
        self.status = status
        self._piece = piece

    def __aiter__(self) -> "SimulatedStream":
        return self

    async def __anext__(self) -> bytes:
        return await self._piece()

    async def hand_to(self, take: TakePiece) -> bool:
        async for piece in self:
            if not take(piece):
                return True
        return False

    def close(self) -> None:
        """As `leave`."""

    def leave(self) -> None:
        """Before its end this closes the connection, which the Agent of a script does not mind."""


async def _by(deadline: float, work: Awaitable[None]) -> None:
    """As the client does: the deadline of an exchange ends it, whatever the Agent intended."""
    try:
        async with asyncio.timeout_at(deadline):
            await work
    except TimeoutError:
        raise HttpTimeout("the deadline came before the end of the answer") from None
