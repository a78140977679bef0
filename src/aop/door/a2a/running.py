"""The streamed calls that run in this process, so that their own callers can cancel them."""

import asyncio
from dataclasses import dataclass, field

from aop.door.gateway import DoorCaller


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


class OpenCalls:
    def __init__(self) -> None:
        self._calls: dict[str, OpenCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def begin(self, call: OpenCall) -> None:
        self._calls[call.invocation_id] = call

    def end(self, call: OpenCall) -> None:
        self._calls.pop(call.invocation_id, None)
        call.closed.set()

    def find(self, invocation_id: str, agent_id: str, caller: DoorCaller) -> OpenCall | None:
        """Only for the bearer that started it, and only under the address that it was started at."""
        call = self._calls.get(invocation_id)
        if call is None or call.agent_id != agent_id or call.caller.workspace_id != caller.workspace_id:
            return None
        return call if caller.is_bearer_of(call.caller) else None
