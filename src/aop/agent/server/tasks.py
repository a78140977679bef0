"""The Tasks of one Agent: each runs on its own, ends exactly once, and all together stay within their limits."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.a2a.rpc import TaskNotCancelable, TaskNotFound, TooManyTasks
from aop.a2a.v0_3 import TaskState
from aop.a2a.writing import encoded_part
from aop.agent.call.calls import NestedCallFailed
from aop.agent.server.skills import InputRefused
from aop.agent.server.task import SkillTask
from aop.contracts.errors import ErrorCode

Join = Callable[[Sequence[Any]], Any]
Report = Callable[[SkillTask, BaseException | None], None]
"""Called once when the work on a Task is over, with what it raised."""


@dataclass(frozen=True)
class TaskLimits:
    """What the Tasks of one Agent may use."""

    seconds: float
    """How long one Task may work: the time limit of the Card, after which no one waits for it."""
    max_output_bytes: int
    """How much one Task may make: the limit of the Card, above which the Router takes nothing."""
    max_running: int = 1_000
    max_kept: int = 1_000
    """How many Tasks that ended, or that wait for their caller, can be read again."""
    keep_seconds: float = 600.0
    max_bytes: int = 256 * 1024 * 1024
    """What all Tasks together may hold; Tasks that ended make room for those that work."""
    max_history_bytes: int = 64 * 1024
    stop_seconds: float = 3.0


class LimitReached(Exception):
    """The work is ended because it takes more than it may; the caller reads the text."""


class OutputTooLarge(LimitReached):
    def __init__(self) -> None:
        super().__init__("The result is larger than the Agent may send.")


class TimeLimitReached(LimitReached):
    def __init__(self) -> None:
        super().__init__("The work took longer than the Agent may take.")


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Ends the work inside with TimeLimitReached, which is not the same as a TimeoutError of the Skill itself."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise TimeLimitReached from None
        raise


class SkillTasks:
    def __init__(self, limits: TaskLimits) -> None:
        self._limits = limits
        self._working: dict[str, tuple[SkillTask, asyncio.Task[None]]] = {}
        self._kept: dict[str, tuple[SkillTask, float]] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._working) + len(self._kept)

    def open(self, owner: str, context_id: str | None, *, streamed: bool) -> SkillTask:
        task = SkillTask(owner, context_id, streamed=streamed)
        self._keep(task)
        return task

    def find(self, task_id: str, owner: str) -> SkillTask:
        self._forget_old()
        task, _ = self._working.get(task_id) or self._kept.get(task_id) or (None, None)
        if task is None or task.owner != owner:
            raise TaskNotFound
        return task

    def require_place(self) -> None:
        # What counts is the work: a Skill that does not stop when its Task is canceled still takes a place.
        if len(self._working) >= self._limits.max_running:
            raise TooManyTasks

    def remember(self, task: SkillTask, message: msgspec.Raw) -> None:
        """Adds a message to the history; a large one is not stored."""
        if len(message) <= self._limits.max_history_bytes and self._has_room(len(message)):
            self._account(task, len(message))
            task.history.append(msgspec.Raw(bytes(message)))  # a copy: the original holds the whole request

    def start(self, task: SkillTask, chunks: AsyncGenerator[Any, None], join: Join, report: Report) -> None:
        task.move(TaskState.WORKING)
        self._kept.pop(task.id, None)
        work = asyncio.create_task(self._work(task, chunks, join))
        self._working[task.id] = (task, work)

        def conclude(done: asyncio.Task[None]) -> None:
            problem = None if done.cancelled() else done.exception()
            task.move(*ending_of(done, problem))
            del self._working[task.id]
            self._keep(task)
            report(task, problem)

        work.add_done_callback(conclude)

    def cancel(self, task: SkillTask) -> None:
        """Ends it at once: its followers read `canceled`, and no chunk after it."""
        if not task.move(TaskState.CANCELED):
            raise TaskNotCancelable
        if task.id in self._working:
            self._working[task.id][1].cancel()

    async def close(self) -> None:
        """Cancels everything that works, and waits a moment for it."""
        works = [work for _, work in self._working.values()]
        for task, work in self._working.values():
            task.move(TaskState.CANCELED)
            work.cancel()
        if works:
            await asyncio.wait(works, timeout=self._limits.stop_seconds)

    async def _work(self, task: SkillTask, chunks: AsyncGenerator[Any, None], join: Join) -> None:
        async with time_limit(self._limits.seconds), aclosing(chunks) as source:
            await self._collect(task, source, join)

    async def _collect(self, task: SkillTask, chunks: AsyncGenerator[Any, None], join: Join) -> None:
        pending: list[Any] = []
        size = 0
        async for chunk in chunks:
            part = encoded_part(chunk)
            size += len(part)
            if size > self._limits.max_output_bytes or not self._has_room(len(part)):
                raise OutputTooLarge
            self._account(task, len(part))
            if task.streamed:
                task.add(part)
            else:
                pending.append(chunk)
        if pending:
            task.add(encoded_part(join(pending)))

    def _has_room(self, size: int) -> bool:
        """Forgets Tasks that ended, the oldest first, until the size fits or none is left."""
        while self._kept and self._bytes + size > self._limits.max_bytes:
            self._forget(next(iter(self._kept)))
        return self._bytes + size <= self._limits.max_bytes

    def _account(self, task: SkillTask, size: int) -> None:
        task.size += size
        self._bytes += size

    def _keep(self, task: SkillTask) -> None:
        self._forget_old()
        while len(self._kept) >= self._limits.max_kept:
            self._forget(next(iter(self._kept)))
        self._kept[task.id] = (task, time.monotonic())

    def _forget_old(self) -> None:
        oldest = time.monotonic() - self._limits.keep_seconds
        while self._kept:
            task_id, (_, since) = next(iter(self._kept.items()))
            if since > oldest:
                return
            self._forget(task_id)

    def _forget(self, task_id: str) -> None:
        task, _ = self._kept.pop(task_id)
        self._bytes -= task.size
        task.size = 0


def ending_of(work: asyncio.Task[None], problem: BaseException | None) -> tuple[TaskState, str | None]:
    """The state in which the work leaves its Task, and what its caller may read about it."""
    if work.cancelled() or (isinstance(problem, NestedCallFailed) and problem.code is ErrorCode.CANCELED):
        return TaskState.CANCELED, None  # a child that is canceled is so because this call is
    if problem is None:
        return TaskState.COMPLETED, None
    if isinstance(problem, InputRefused):
        return TaskState.REJECTED, str(problem)
    return TaskState.FAILED, str(problem) if isinstance(problem, LimitReached) else "The work failed."
