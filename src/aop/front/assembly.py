"""Makes one answer of a stream: what an Agent would have said to a caller that does not stream."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from aop.a2a.rpc import RequestId, success
from aop.front.faults import UpstreamTooLarge
from aop.front.reading import Kind, SeenArtifact, SeenResult, SeenStatus

_ARTIFACT_BYTES: Final = 32
"""What an artifact without parts takes in the answer, beside its id."""
_OBJECT_BYTES: Final = 64
"""What a part costs in memory beside its bytes."""


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
    """Artifacts in the order in which they began. A later base of the same artifact replaces the earlier one."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._artifacts: dict[str, _Parts] = {}
        self._said = _Parts()
        self._message: SeenResult | None = None
        self._task: SeenResult | None = None
        self._size = 0
        self._count = 0

    @property
    def held(self) -> int:
        """An upper bound of the memory that it takes."""
        return self._size + _OBJECT_BYTES * self._count

    def take(self, result: SeenResult) -> None:
        if result.kind == Kind.MESSAGE:
            self._message = msgspec.structs.replace(result, parts=msgspec.UNSET)
            self._add(self._said, () if result.parts is msgspec.UNSET else result.parts)
        elif result.kind == Kind.ARTIFACT and result.artifact is not msgspec.UNSET:
            self._put(result.artifact, append=result.append is True)
        elif result.status is not msgspec.UNSET:
            for artifact in () if result.artifacts is msgspec.UNSET else result.artifacts:
                self._put(artifact, append=False)
            self._task = SeenResult(
                kind=Kind.TASK,
                id=result.task or msgspec.UNSET,
                context_id=result.context_id,
                status=_copied(result.status),
            )

    def answer(self, request_id: RequestId) -> bytes | None:
        """The response to message/send; None when the Agent said nothing that could be one."""
        if self._task is not None:
            artifacts = tuple(SeenArtifact(name, parts.raw()) for name, parts in self._artifacts.items())
            whole = msgspec.structs.replace(self._task, artifacts=artifacts or msgspec.UNSET)
        elif self._message is not None and not self._artifacts:
            whole = msgspec.structs.replace(self._message, parts=self._said.raw())
        else:
            return None
        return success(request_id, msgspec.json.encode(whole))

    def _put(self, artifact: SeenArtifact, *, append: bool) -> None:
        name = artifact.artifact_id
        kept = self._artifacts.get(name)
        if kept is not None and not append:
            self._size -= kept.size
            self._count -= len(kept.texts)
            kept = self._artifacts[name] = _Parts()
        elif kept is None:
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


def _copied(status: SeenStatus) -> SeenStatus:
    message = status.message
    return SeenStatus(status.state, message if message is msgspec.UNSET else msgspec.Raw(bytes(message)))
