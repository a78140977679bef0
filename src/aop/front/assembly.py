"""Makes one answer of a stream: what an Agent would have said to a caller that does not stream."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from aop.a2a.rpc import RequestId, success
from aop.a2a.v0_3 import (
    AgentArtifact,
    AgentResult,
    AgentStatus,
    Kind,
    TaskState,
    last_message,
    last_of,
    read_message,
    read_part,
)
from aop.base.json import NOT_READ
from aop.front.faults import UpstreamTooLarge

_ARTIFACT_BYTES: Final = 32
"""What an artifact without parts takes in the answer, in addition to its id."""
_OBJECT_BYTES: Final = 64
"""What a part costs in memory in addition to its bytes."""


@dataclass
class _Parts:
    """Copies: a part as it was read would keep its whole event in memory."""

    texts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, parts: Iterable[msgspec.Raw]) -> None:
        added = [bytes(part) for part in parts]
        self.texts += added
        self.size += sum(map(len, added)) + len(added)

    def raw(self) -> tuple[msgspec.Raw, ...]:
        return tuple(map(msgspec.Raw, self.texts))


class Assembly:
    """Artifacts in the order in which they began. A Task may have an artifact that was begun as a whole once more."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._artifacts: dict[str, _Parts] = {}
        self._message_parts = _Parts()
        self._working: _Parts | None = _Parts()
        """Texts of status messages; None when they are more than the answer may be."""
        self._unreadable: msgspec.Raw | None = None
        """A status message that is none: the Router judges it if nothing else is the result."""
        self._earlier: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
        """The last Message of a snapshot in which the Task still ran, as a history."""
        self._message: AgentResult | None = None
        self._task: AgentResult | None = None
        self._size = 0
        self._count = 0

    @property
    def held(self) -> int:
        """An upper bound of the memory that it takes."""
        working = self._working or _Parts()
        return self._size + working.size + _OBJECT_BYTES * (self._count + len(working.texts))

    def take(self, result: AgentResult) -> None:
        if result.kind == Kind.MESSAGE:
            self._message = msgspec.structs.replace(result, parts=msgspec.UNSET)
            self._add(self._message_parts, () if result.parts is msgspec.UNSET else result.parts)
        elif result.kind == Kind.ARTIFACT and result.artifact is not msgspec.UNSET:
            self._put(result.artifact, append=result.append is True)
        elif result.status is not msgspec.UNSET:
            for artifact in () if result.artifacts is msgspec.UNSET else result.artifacts:
                self._put(artifact, append=False)
            self._task = AgentResult(
                kind=Kind.TASK,
                id=result.task or msgspec.UNSET,
                context_id=result.context_id,
                status=_copied(result.status),
                history=last_of(result.history, "agent"),
            )
            if not result.ends and result.history is not msgspec.UNSET:
                self._keep_earlier(result.history)
            if result.status.state == TaskState.WORKING and not self._artifacts:
                self._hear(result.status)

    def answer(self, request_id: RequestId) -> bytes | None:
        """The response to message/send; None when the Agent said nothing that could be one."""
        if self._task is not None:
            artifacts = tuple(AgentArtifact(name, parts.raw()) for name, parts in self._artifacts.items())
            whole = msgspec.structs.replace(self._task, artifacts=artifacts or msgspec.UNSET)
            if not any(parts.texts for parts in self._artifacts.values()):
                whole = self._with_message(whole)
        elif self._message is not None and not self._artifacts:
            whole = msgspec.structs.replace(self._message, parts=self._message_parts.raw())
        else:
            return None
        return success(request_id, msgspec.json.encode(whole))

    def _with_message(self, task: AgentResult) -> AgentResult:
        """Without an artifact the result is what the Agent said: the Messages, the last one of the Task, the texts of
        all that came while it worked, or the last one that a snapshot had."""
        status = task.status
        if status is msgspec.UNSET or status.state != TaskState.COMPLETED:
            return task
        parts = self._message_parts
        if not parts.texts:
            if status.message_or_none is not None or task.history is not msgspec.UNSET:
                return task
            if self._unreadable is not None:
                return msgspec.structs.replace(task, status=AgentStatus(status.state, self._unreadable))
            if self._working is None:
                raise UpstreamTooLarge("the result is larger than the Card allows")
            parts = self._working
        if not parts.texts:
            return msgspec.structs.replace(task, history=self._earlier)
        said = AgentResult(kind=Kind.MESSAGE, message_id=task.id, role="agent", parts=parts.raw())
        return msgspec.structs.replace(task, status=AgentStatus(status.state, msgspec.Raw(msgspec.json.encode(said))))

    def _keep_earlier(self, history: msgspec.Raw) -> None:
        with suppress(*NOT_READ):
            said = last_message(history, "agent")
            self._earlier = msgspec.UNSET if said is None else msgspec.Raw(b"[%b]" % bytes(said))

    def _hear(self, status: AgentStatus) -> None:
        """Keeps the texts of a status message as long as there is no artifact, and no more than the answer may be."""
        if status.message_or_none is None or self._working is None:
            return
        try:
            self._working.add(
                part for part in read_message(status.message_or_none).parts if read_part(part).kind == "text"
            )
        except NOT_READ:
            self._unreadable = self._unreadable or _copied(status).message_or_none
        if self._size + self._working.size > self._max_bytes:
            self._working = None

    def _put(self, artifact: AgentArtifact, *, append: bool) -> None:
        name = artifact.artifact_id
        kept = self._artifacts.get(name)
        if kept is not None and not append:
            self._size -= kept.size
            self._count -= len(kept.texts)
            kept = self._artifacts[name] = _Parts()
        elif kept is None:
            self._working = _Parts()
            kept = self._artifacts[name] = _Parts()
            self._size += len(name) + _ARTIFACT_BYTES
            self._count += 1
        self._add(kept, artifact.parts)

    def _add(self, kept: _Parts, parts: tuple[msgspec.Raw, ...]) -> None:
        before = kept.size
        kept.add(parts)
        self._size += kept.size - before
        self._count += len(parts)
        if self._size > self._max_bytes:
            raise UpstreamTooLarge("the result is larger than the Card allows")


def _copied(status: AgentStatus) -> AgentStatus:
    message = status.message
    return AgentStatus(status.state, message if message is msgspec.UNSET else msgspec.Raw(bytes(message)))
