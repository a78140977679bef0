"""The Tasks this Agent remembers: those that run, and the latest that ended."""

import asyncio

from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import Task, TaskState

MOST_TASKS = 1_000
ENDED = frozenset({TaskState.completed, TaskState.canceled, TaskState.failed, TaskState.rejected})


class RecentTasks(TaskStore):
    """Bounded, in memory: when it is full the oldest Task is forgotten, running ones last."""

    def __init__(self, most: int = MOST_TASKS) -> None:
        self._most = most
        self._tasks: dict[str, Task] = {}
        self._changed = asyncio.Condition()

    async def save(self, task: Task, context: ServerCallContext | None = None) -> None:
        async with self._changed:
            self._tasks[task.id] = task
            while len(self._tasks) > self._most:
                ended = (known for known, kept in self._tasks.items() if kept.status.state in ENDED)
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
        return task is None or task.status.state in ENDED
