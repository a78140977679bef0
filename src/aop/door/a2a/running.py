"""The streamed calls that run in this door, so that their own callers can cancel them."""

import asyncio
import hmac
from dataclasses import dataclass, field
from typing import Final

import msgspec

from aop.door.gateway import DoorCaller
from aop.serving.workers.worker_group import WorkerGroup

CLOSING_SECONDS: Final = 10.0
"""How long another worker may take to end a call. Of one that takes longer nobody can say that it ended."""
_QUESTION: Final = "a2a call"


@dataclass(slots=True, eq=False)
class OpenCall:
    """One Invocation that streams to its caller; it has to be made in the task that streams."""

    invocation_id: str
    context_id: str
    agent_id: str
    caller: DoorCaller
    cancel_requested: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing of it runs in this process any more."""
    _task: asyncio.Task[object] | None = field(default_factory=asyncio.current_task, repr=False)

    def cancel(self) -> None:
        """Stops the reading of its result, once. The task that read it then closes its connection to the Gateway,
        which ends the Invocation."""
        if not self.cancel_requested and self._task is not None:
            self.cancel_requested = True
            self._task.cancel()

    def resume(self) -> bool:
        """For the task that was stopped: whether it goes on, because nobody but `cancel` stopped it."""
        return self.cancel_requested and self._task is not None and self._task.uncancel() == 0


class _CallQuery(msgspec.Struct, array_like=True):
    """Asks whichever worker of the door streams a call about it, or to end it."""

    invocation_id: str
    agent_id: str
    workspace_id: str
    bearer: bytes
    cancel: bool


class _CallFound(msgspec.Struct, array_like=True):
    context_id: str


_encode = msgspec.msgpack.Encoder().encode
_query = msgspec.msgpack.Decoder(_CallQuery).decode
_found = msgspec.msgpack.Decoder(_CallFound).decode


class OpenCalls:
    """Those of this process, and questions about those of all workers of the door."""

    def __init__(self, group: WorkerGroup) -> None:
        self._calls: dict[str, OpenCall] = {}
        self._group = group
        group.answers(_QUESTION, self._answer)

    def __len__(self) -> int:
        return len(self._calls)

    def begin(self, call: OpenCall) -> None:
        self._calls[call.invocation_id] = call

    def end(self, call: OpenCall) -> None:
        self._calls.pop(call.invocation_id, None)
        call.closed.set()

    async def context_of(self, invocation_id: str, agent_id: str, caller: DoorCaller) -> str | None:
        """None unless it streams in a worker of this door. Only for the bearer that started it, and only under the
        address that it was started at."""
        return await self._ask(_CallQuery(invocation_id, agent_id, caller.workspace_id, caller.bearer, cancel=False))

    async def cancel(self, invocation_id: str, agent_id: str, caller: DoorCaller) -> str | None:
        """As `context_of`, and the call is ended: nothing of it runs in any worker when this returns."""
        return await self._ask(_CallQuery(invocation_id, agent_id, caller.workspace_id, caller.bearer, cancel=True))

    async def _ask(self, query: _CallQuery) -> str | None:
        answers = await self._group.ask_all(_QUESTION, _encode(query), CLOSING_SECONDS)
        return next((_found(answer).context_id for answer in answers if answer), None)

    async def _answer(self, body: bytes) -> bytes:
        query = _query(body)
        call = self._calls.get(query.invocation_id)
        if call is None or (call.agent_id, call.caller.workspace_id) != (query.agent_id, query.workspace_id):
            return b""
        if not hmac.compare_digest(call.caller.bearer, query.bearer):
            return b""
        if query.cancel:
            call.cancel()
            await call.closed.wait()
        return _encode(_CallFound(call.context_id))
