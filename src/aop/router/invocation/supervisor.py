"""Owns the tasks of running Invocations: looked up by parent, stopped together, awaited before the Router ends."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from aop.base.recent import RecentlyUsed
from aop.ledger.model import ENDS_CHILDREN
from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import RunningInvocation, StopReason

_REMEMBERED = 1024


class InvocationSupervisor:
    def __init__(self) -> None:
        self._running: dict[str, RunningInvocation] = {}
        self._children: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self._stopping = False
        # A child may have been accepted before its parent ended and get here after: the last ended ones are kept.
        self._ended_with_children: RecentlyUsed[str, bool] = RecentlyUsed(max_items=_REMEMBERED)

    def __len__(self) -> int:
        return len(self._running)

    def streams(self) -> int:
        return sum(running.stream is not None for running in self._running.values())

    def start(self, running: RunningInvocation, work: Coroutine[Any, Any, object]) -> None:
        self.enter(running)
        self.keep(work)

    def keep(self, work: Coroutine[Any, Any, object]) -> None:
        """A task that is awaited before the Router ends."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def enter(self, running: RunningInvocation) -> None:
        """From here on it can be stopped, whichever task runs it."""
        lineage = running.lineage
        self._running[lineage.invocation] = running
        if lineage.parent is not None:
            self._children.setdefault(lineage.parent, set()).add(lineage.invocation)
            if self._ended_with_children.find(lineage.parent):
                running.stop(StopReason.PARENT_ENDED)
        if self._stopping:  # accepted just before the end: what still runs then could not be awaited
            running.stop(StopReason.SHUTDOWN)

    def ended(self, running: RunningInvocation, outcome: Outcome) -> None:
        """Its terminal is recorded: it is no longer running, and what it called may have to end too."""
        lineage = running.lineage
        del self._running[lineage.invocation]
        if lineage.parent is not None:
            siblings = self._children[lineage.parent]
            siblings.discard(lineage.invocation)
            if not siblings:
                del self._children[lineage.parent]
        if outcome.terminal in ENDS_CHILDREN:
            self._ended_with_children.keep(lineage.invocation, value=True)
            self.stop_children(lineage.invocation)

    def parents_elsewhere(self) -> Sequence[str]:
        """Parents of children that run here, when they themselves do not."""
        return [parent for parent in self._children if parent not in self._running]

    def stop_children(self, parent_id: str) -> None:
        for child_id in list(self._children.get(parent_id, ())):
            self._running[child_id].stop(StopReason.PARENT_ENDED)

    async def stop_all(self) -> None:
        self._stopping = True
        for running in list(self._running.values()):
            running.stop(StopReason.SHUTDOWN)
        while self._tasks or self._running:
            ends: set[asyncio.Future[Any]] = {running.ended for running in self._running.values()}
            await asyncio.wait({*self._tasks, *ends})
