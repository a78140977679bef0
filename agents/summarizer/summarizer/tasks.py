"""The Tasks of this Agent: each runs on its own, can be stopped at any moment, and ends exactly once."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final
from uuid import uuid4

from aop.contracts.a2a import TaskState
from summarizer.skills import Piece

MOST_TASKS: Final = 1_000
ENDED: Final = frozenset({TaskState.COMPLETED, TaskState.CANCELED, TaskState.FAILED, TaskState.REJECTED})


class Task:
    def __init__(self, context_id: str | None = None) -> None:
        self.id = uuid4().hex
        self.context_id = context_id or uuid4().hex
        self.state = TaskState.SUBMITTED
        self.pieces: list[Piece] = []
        self.changed = asyncio.Event()
        """Set at the next change, and then replaced: take it before looking, wait for it after."""
        self._note: str | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    def begin(self, pieces: AsyncGenerator[Piece, None]) -> None:
        self._move(TaskState.WORKING)
        self._work = asyncio.create_task(self._run(pieces))
        self._work.add_done_callback(self._conclude)

    def ask(self, note: str) -> None:
        self._move(TaskState.INPUT_REQUIRED, note)

    def reject(self, note: str) -> None:
        self._move(TaskState.REJECTED, note)

    def cancel(self) -> None:
        """Ends it at once; whoever follows it reads `canceled`, and no piece after it."""
        self._move(TaskState.CANCELED)
        if self._work is not None:
            self._work.cancel()

    async def settled(self) -> None:
        """Returns when it has ended, or waits for its caller."""
        while self.state in {TaskState.SUBMITTED, TaskState.WORKING}:
            await self.changed.wait()

    def status(self) -> dict[str, Any]:
        if self._note is None:
            return {"state": self.state}
        part = {"kind": "text", "text": self._note}
        message = {"kind": "message", "messageId": uuid4().hex, "role": "agent", "parts": [part]}
        return {"state": self.state, "message": message | {"taskId": self.id, "contextId": self.context_id}}

    async def _run(self, source: AsyncGenerator[Piece, None]) -> None:
        async with aclosing(source) as pieces:
            async for piece in pieces:
                self.pieces.append(piece)
                self._wake()

    def _conclude(self, work: asyncio.Task[None]) -> None:
        problem = None if work.cancelled() else work.exception()
        if problem is not None:
            logging.getLogger(__name__).error("the work failed", exc_info=problem)
            self._move(TaskState.FAILED, "The work failed.")
        else:
            self._move(TaskState.CANCELED if work.cancelled() else TaskState.COMPLETED)

    def _move(self, state: TaskState, note: str | None = None) -> None:
        if not self.ended:
            self.state, self._note = state, note
            self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class Tasks:
    """Bounded, in memory: when it is full the oldest that ended is forgotten, or else the oldest, which is stopped."""

    def __init__(self, most: int = MOST_TASKS) -> None:
        self._most = most
        self._known: dict[str, Task] = {}

    def open(self, context_id: str | None) -> Task:
        if len(self._known) >= self._most:
            oldest = next((task for task in self._known.values() if task.ended), next(iter(self._known.values())))
            oldest.cancel()
            del self._known[oldest.id]
        task = Task(context_id)
        self._known[task.id] = task
        return task

    def get(self, task_id: str) -> Task | None:
        return self._known.get(task_id)

    def stop(self) -> None:
        for task in self._known.values():
            task.cancel()
