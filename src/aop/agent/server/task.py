"""One Task of A2A: its states as a table, what it has made so far, and the documents that show it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Final
from uuid import uuid4

import msgspec

from aop.a2a.v0_3 import TaskState
from aop.a2a.versions import A2AVersion
from aop.a2a.writing import FORMS, TaskView
from aop.base.clock import now_text

NEXT_STATES: Final[Mapping[TaskState, frozenset[TaskState]]] = {
    TaskState.SUBMITTED: frozenset(
        {TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.REJECTED, TaskState.CANCELED}
    ),
    TaskState.INPUT_REQUIRED: frozenset(
        {TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.REJECTED, TaskState.CANCELED}
    ),
    TaskState.WORKING: frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED}),
    TaskState.COMPLETED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.REJECTED: frozenset(),
    TaskState.CANCELED: frozenset(),
}
_FORM: Final = FORMS[A2AVersion.V0_3]


class SkillTask:
    """Changes only by `move` and `add`; each follower sees each change once, in order."""

    def __init__(self, owner: str, context_id: str | None, *, streamed: bool) -> None:
        self.id = uuid4().hex
        self.context_id = context_id or uuid4().hex
        self.owner = owner
        """The Workspace whose call made it: no one else may read or cancel it."""
        self.streamed = streamed
        """Whether each chunk is a part of the artifact as it comes, or all of them are joined into one at the end."""
        self.state = TaskState.SUBMITTED
        self.parts: list[bytes] = []
        self.history: list[msgspec.Raw] = []
        self.size = 0
        self._note: str | None = None
        self._since = now_text()
        self._changed = asyncio.Event()

    @property
    def ended(self) -> bool:
        return not NEXT_STATES[self.state]

    @property
    def running(self) -> bool:
        return self.state in {TaskState.SUBMITTED, TaskState.WORKING}

    def move(self, state: TaskState, note: str | None = None) -> bool:
        """Whether the table allows it; when it does not, nothing changes. A cancel may be earlier than an end."""
        if state not in NEXT_STATES[self.state]:
            return False
        self.state, self._note, self._since = state, note, now_text()
        self._wake()
        return True

    def add(self, part: bytes) -> None:
        if not self.ended:
            self.parts.append(part)
            self._wake()

    async def settled(self) -> None:
        """Returns when it has ended or waits for its caller."""
        while self.running:
            await self._changed.wait()

    def document(self, history_length: int = 0, max_bytes: int = 0) -> bytes:
        """The Task as it is now, with the latest messages of its history as long as all fits into `max_bytes`."""
        plain = _FORM.document(self._view, self.parts)
        messages = self.history[-history_length:] if history_length else []
        if not messages or len(plain) + sum(map(len, messages)) > max_bytes:
            return plain
        return _FORM.document(self._view, self.parts, messages)

    def follow(self) -> AsyncGenerator[bytes, None]:
        """The Task as it is at this moment, then each part of the artifact as it is made, and the end."""
        return self._events(self.document(), len(self.parts), ended=not self.running)

    async def _events(self, first: bytes, position: int, *, ended: bool) -> AsyncGenerator[bytes, None]:
        yield first
        # Which chunk is the last is known only after it was sent; the end of the Task closes its artifact.
        before, begun, appended = _FORM.artifact(self._view)
        while not ended:
            changed = self._changed  # taken before the look, so that no change is missed
            while position < len(self.parts):
                yield before + self.parts[position] + (appended if position else begun)
                position += 1
            ended = not self.running
            if ended:
                yield _FORM.status(self._view)
            elif position == len(self.parts):
                await changed.wait()

    @property
    def _view(self) -> TaskView:
        note = self._note
        # A Task may ask twice, and a client may take two messages of one id for one.
        message_id = None if note is None else uuid4().hex
        return TaskView(self.id, self.context_id, self.state, self._since, text=note, message_id=message_id)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def input_note(skill_id: str) -> str:
    """What a caller reads who sent a message without an input."""
    return f"Send one data part: the input of {skill_id}."
