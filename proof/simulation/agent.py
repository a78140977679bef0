"""The Agents of a simulated world, in place of the Router's HTTP client: scripts say what a request meets, and when."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import msgspec

from aop.base.canonical import from_base64url
from aop.net.http import Answer, AnswerTooLarge, ConnectFailed, HttpTimeout, TransferBroken
from aop.net.http.message import HeaderLookup
from proof.simulation.loop import History

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
    names_task: bool = False


BREAKS: dict[str, Callable[[], Exception]] = {
    "!connect": lambda: ConnectFailed("connect", "ConnectionRefusedError"),
    "!broken": lambda: TransferBroken("the connection was lost"),
    "!large": lambda: AnswerTooLarge("body", 200),
}


@dataclass
class Seen:
    """What the Agent saw of one Invocation."""

    methods: Counter[str] = field(default_factory=Counter)
    credentials: set[str] = field(default_factory=set)
    requests: int = 0
    names: set[tuple[str, str]] = field(default_factory=set)
    named_at: float | None = None
    """When its answer first named a Task."""
    finished_at: float | None = None
    """When the last word of the script was told."""


class SimulatedAgents:
    """Answers the requests of every Invocation by its script; `tasks/cancel` is answered, or not, as chance has it."""

    def __init__(self, scripts: dict[str, Script], seed: int, history: History, calls: Calls) -> None:
        self._scripts = scripts
        self._random = random.Random(seed)
        self._history = history
        self._calls = calls
        self._names: dict[bytes, str] = {}
        self._next_step: Counter[str] = Counter()
        self.seen: dict[str, Seen] = {}

    async def request(self, target: Any, method: str, path: str, **sent: Any) -> Answer:
        name, call, rpc = self._receive(sent["headers"], sent["body"])
        if rpc == "tasks/cancel":
            await _pause(self._random.choice((0.0, 0.2, 5.0)), sent["deadline"])
            return Answer(200, _JSON, b"{}")
        script = self._scripts[name]
        if rpc == "message/send" and script.child is not None:
            await _by(sent["deadline"], self._calls(script.child, _delegation(sent["headers"])))
        step = script.steps[min(self._next_step[name], len(script.steps) - 1)]
        self._next_step[name] += 1
        await _pause(step.pause, sent["deadline"])
        if step.says in BREAKS:
            raise BREAKS[step.says]()
        self.note_answer(name, step.says, is_last=self._next_step[name] >= len(script.steps))
        status = int(step.says[1:]) if step.says[:1] == "#" else 200
        return Answer(status, _JSON, step.says.replace("%id%", str(call)).encode())

    def stream(self, target: Any, method: str, path: str, **sent: Any) -> "SimulatedStream":
        return SimulatedStream(self, sent)

    def _receive(self, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> tuple[str, str, str]:
        """The name of the Invocation, the id of the request, the JSON-RPC method."""
        lines, call = dict(headers), msgspec.json.decode(body)
        invocation, rpc = lines[b"x-platform-invocation-id"], call["method"]
        if invocation not in self._names:
            self._names[invocation] = call["params"]["message"]["parts"][0]["data"]["name"]
        name = self._names[invocation]
        seen = self.seen.setdefault(name, Seen())
        if not self._history.is_over:
            claims = msgspec.json.decode(from_base64url(lines[b"authorization"].decode().split(".")[1]))
            seen.methods["message" if rpc.startswith("message/") else rpc] += 1
            seen.credentials.add(claims["jti"])
            seen.requests += 1
            seen.names.add((claims["releaseId"], claims["cardDigest"]))
        self._history.note(name, "agent got", rpc)
        return name, call["id"], rpc

    def note_answer(self, name: str, says: str, *, is_last: bool) -> None:
        seen, now = self.seen[name], self._history.loop.time()
        if seen.named_at is None and any(mark in says for mark in _NAMES_TASK):
            seen.named_at = now
        if is_last and seen.finished_at is None:
            seen.finished_at = now

    async def begin(self, sent: dict[str, Any]) -> tuple[str, str, Script]:
        name, call, _ = self._receive(sent["headers"], sent["body"])
        script = self._scripts[name]
        if script.child is not None:
            await _by(sent["deadline"], self._calls(script.child, _delegation(sent["headers"])))
        return name, call, script


class SimulatedStream(HeaderLookup):
    """The scope of a streamed answer and the answer itself."""

    def __init__(self, agents: SimulatedAgents, sent: dict[str, Any]) -> None:
        self._agents = agents
        self._sent = sent
        self._place = 0
        self.status = 200
        self.headers = _EVENTS

    async def __aenter__(self) -> "SimulatedStream":
        self._name, self._id, self._script = await self._agents.begin(self._sent)
        first = self._script.steps[0]
        if first.says[:1] in {"#", "!"}:
            await _pause(first.pause, self._sent["deadline"])
            if first.says in BREAKS:
                raise BREAKS[first.says]()
            self.status = int(first.says[1:])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaving early closes the connection, which the Agent of a script does not mind."""

    def __aiter__(self) -> "SimulatedStream":
        return self

    async def __anext__(self) -> bytes:
        if self._place == len(self._script.steps):
            raise StopAsyncIteration
        step = self._script.steps[self._place]
        await _pause(step.pause, self._sent["deadline"])
        self._place += 1
        if step.says in BREAKS:
            raise BREAKS[step.says]()
        self._agents.note_answer(self._name, step.says, is_last=self._place == len(self._script.steps))
        return step.says.replace("%id%", str(self._id)).encode()


def _delegation(headers: Sequence[tuple[bytes, bytes]]) -> str:
    return dict(headers)[b"x-platform-delegation"].decode("ascii")


async def _pause(seconds: float, deadline: float) -> None:
    """As the client does: the deadline of an exchange ends it, whatever the Agent intended."""
    left = deadline - asyncio.get_running_loop().time()
    await asyncio.sleep(max(0.0, min(seconds, left)))
    if seconds >= left:
        raise HttpTimeout("the deadline came before the end of the answer")


async def _by(deadline: float, work: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout_at(deadline):
            await work
    except TimeoutError:
        raise HttpTimeout("the deadline came while the Agent waited for another") from None
