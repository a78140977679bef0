"""The calls that run through the front: which Task of the Agent each one is, and that it is canceled at most once."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final

import msgspec

from aop.a2a.v0_3 import TERMINAL, AgentResult
from aop.net.asgi import Disconnect
from aop.serving.edge.streaming import CancelOnDisconnect

NAMING_SECONDS: Final = 5.0
"""How long the front waits, after its caller has left, for the Agent to name the Task that is to be canceled."""


class RunningCall(msgspec.Struct, eq=False):
    """One message on its way through the Agent. Only the Workspace that sent it may ask for its Task or cancel it."""

    calls: "RunningCalls"
    workspace_id: str
    task_id: str | None = None
    context_id: str = ""
    state: str = ""
    cancel_sent: bool = False
    named: Callable[[], None] | None = None
    """Called once, when the Agent has named the Task."""

    def see(self, result: AgentResult) -> bool:
        """Whether it may belong to the Task of this call: a Message without a Task belongs to any."""
        task_id = result.task
        if task_id is None:
            return True
        if self.task_id is None:
            self.task_id = task_id
            self.context_id = result.context_id or ""
            self.calls.add(self)
            if self.named is not None:
                self.named()
        if task_id != self.task_id:
            return False
        self.state = result.state or self.state
        return True

    @property
    def may_run(self) -> bool:
        """Whether the Agent may still be at work, or wait for an answer that never comes."""
        return self.task_id is not None and self.state not in TERMINAL


class RunningCalls:
    """By Task. An Agent that gives two Tasks one id gets the cancel of either."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str | None], RunningCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: RunningCall) -> None:
        """Once its Task has a name."""
        self._calls[call.workspace_id, call.task_id] = call

    def end(self, call: RunningCall) -> None:
        if call.task_id is not None and self._calls.get((call.workspace_id, call.task_id)) is call:
            del self._calls[call.workspace_id, call.task_id]

    def find(self, workspace_id: str, task_id: str) -> RunningCall | None:
        return self._calls.get((workspace_id, task_id))


class EndOnLeaving(CancelOnDisconnect):
    """`with EndOnLeaving(gone, call):` ends what is inside when the caller leaves.

    As long as the Agent has not named its Task, the end waits a moment: without the name nothing can be canceled.
    Without a call there is nothing to wait for.
    """

    def __init__(self, gone: Disconnect, call: RunningCall | None) -> None:
        super().__init__(gone)
        self._call = call
        self._timer: asyncio.TimerHandle | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
        if self._timer is not None:
            self._timer.cancel()
        return super().__exit__(kind, error, place)

    def _leave(self) -> None:
        if self._call is None or self._call.task_id is not None:
            super()._leave()
            return
        self._timer = asyncio.get_running_loop().call_later(NAMING_SECONDS, super()._leave)
        self._call.named = super()._leave
