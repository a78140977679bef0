"""The Tasks of an Agent on a2a-sdk: kept in memory within a limit, and followed again in every state."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import TaskStore
from a2a.types import Task, TaskIdParams, TaskNotFoundError, TaskState
from a2a.utils.errors import ServerError

MAX_TASKS: Final = 1_000
_ENDED: Final = frozenset({TaskState.completed, TaskState.canceled, TaskState.failed, TaskState.rejected})
_SETTLED: Final = _ENDED | {TaskState.input_required}


class RecentTasks(TaskStore):
    """The Tasks in memory: when there are too many, the oldest that ended is forgotten, running ones last."""

    def __init__(self, max_tasks: int = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._tasks: dict[str, Task] = {}
        self._changed = asyncio.Condition()

    async def save(self, task: Task, context: ServerCallContext | None = None) -> None:
        async with self._changed:
            self._tasks[task.id] = task
            while len(self._tasks) > self._max_tasks:
                ended = (task_id for task_id, kept in self._tasks.items() if kept.status.state in _ENDED)
                del self._tasks[next(ended, next(iter(self._tasks)))]
            self._changed.notify_all()

    async def get(self, task_id: str, context: ServerCallContext | None = None) -> Task | None:
        return self._tasks.get(task_id)

    async def delete(self, task_id: str, context: ServerCallContext | None = None) -> None:
        self._tasks.pop(task_id, None)

    async def wait_ended(self, task_id: str) -> None:
        """Returns when the Task is stored as ended, or forgotten."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_ended(task_id))

    def _has_ended(self, task_id: str) -> bool:
        task = self._tasks.get(task_id)
        return task is None or task.status.state in _ENDED


class FollowedTasks(DefaultRequestHandler):
    """Tells whoever follows a Task again where it stands. a2a-sdk alone knows no Task that has nothing to report."""

    async def on_resubscribe_to_task(
        self, params: TaskIdParams, context: ServerCallContext | None = None
    ) -> AsyncGenerator[Event]:
        task = await self.task_store.get(params.id, context)
        if task is None:
            raise ServerError(error=TaskNotFoundError())
        yield task
        if task.status.state not in _SETTLED:
            async with aclosing(super().on_resubscribe_to_task(params, context)) as events:
                async for event in events:
                    yield event
