"""The artifacts of a stream: one may begin with an append, and may come once more as a whole.

The Router takes neither: a piece has a beginning, and what was delivered cannot be taken back. Whether one answer is
made of the stream or not, an artifact that comes again with another text is the Router's to refuse.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Final

import msgspec

from aop.a2a.dialect import AgentResponse
from aop.a2a.repetition import EventTemplate
from aop.a2a.rpc import RequestId, success
from aop.a2a.v0_3 import AgentArtifact, AgentResult, Kind, text_of

_HELD_BYTES: Final = 512
"""The memory that one artifact takes."""


class Deviation(Enum):
    """What an event does to its artifact that the Router does not take."""

    BEGINS_BY_APPEND = auto()
    REPEATS = auto()
    REPLACES = auto()


class StreamedArtifacts:
    """Of one stream. It stores a digest of each artifact and no text; `begun_by_append` is called for each such one.

    Streams of words repeat one event with another text: such an event is not read again, only its text is put in.
    """

    __slots__ = (
        "_after",
        "_before",
        "_begun",
        "_begun_by_append",
        "_digest",
        "_in_snapshot",
        "_last",
        "_request_id",
        "_template",
    )

    def __init__(self, request_id: RequestId, begun_by_append: Callable[[], None]) -> None:
        self._request_id = request_id
        self._begun_by_append = begun_by_append
        self._begun: dict[str, hashlib._Hash] = {}
        self._template = EventTemplate()
        self._last: AgentResponse | None = None
        self._digest = hashlib.sha256()
        self._before = self._after = b""
        self._in_snapshot: set[str] = set()
        """Those that no update has begun."""

    @property
    def held(self) -> int:
        return _HELD_BYTES * len(self._begun)

    def repeated(self, text: bytes) -> AgentResponse | None:
        """What the Router gets of an event that repeats the last one with another text; None for any other event."""
        last, found = self._last, self._template.value(text)
        if last is None or found is None or not isinstance(found[1], str):
            return None
        self._digest.update(found[1].encode())
        return AgentResponse(self._before + found[0] + self._after, last.result, is_last=last.is_last)

    def passed_on(self, text: bytes, read: AgentResponse) -> AgentResponse | None:
        """What the Router gets of an event that was read; None when it is the whole of what it got in pieces."""
        self._template.forget()
        result = read.result
        if result is None or read.is_foreign:
            return read
        deviation = self.take(result)
        if deviation is Deviation.REPEATS:
            return None
        if deviation is Deviation.BEGINS_BY_APPEND:
            first = msgspec.structs.replace(result, append=False)
            return AgentResponse(success(self._request_id, msgspec.json.encode(first)), first, is_last=read.is_last)
        if deviation is None and result.append is True and result.artifact is not msgspec.UNSET:
            self._learn(text, read, result.artifact.parts)
        return read

    def take(self, result: AgentResult) -> Deviation | None:
        if result.artifacts:
            self._take_snapshot([artifact for artifact in result.artifacts if artifact.parts])
        if result.kind != Kind.ARTIFACT or result.artifact is msgspec.UNSET:
            return None
        name, parts = result.artifact.artifact_id, result.artifact.parts
        begun = self._begun.get(name)
        if begun is not None and name in self._in_snapshot:
            self._in_snapshot.remove(name)
            if result.append is not True:  # the Router has delivered nothing of it yet
                begun = None
        if begun is None:
            self._begun[name] = _added(hashlib.sha256(), parts)
            if result.append is not True:
                return None
            self._begun_by_append()
            return Deviation.BEGINS_BY_APPEND
        if result.append is True:
            self._digest = _added(begun, parts)
            return None
        is_same = _added(hashlib.sha256(), parts).digest() == begun.digest()
        return Deviation.REPEATS if is_same else Deviation.REPLACES

    def _learn(self, text: bytes, read: AgentResponse, parts: tuple[msgspec.Raw, ...]) -> None:
        """Only an appended piece with one text is repeated."""
        found = text_of(parts[0]) if len(parts) == 1 else None
        # The same bytes elsewhere would leave open which of them is the text.
        if found is not None and text.count(found[0]) == 1 == read.text.count(found[0]):
            before, _, after = text.partition(found[0])
            self._template.keep(before, after, str)
            self._before, _, self._after = read.text.partition(found[0])
            self._last = read

    def _take_snapshot(self, artifacts: Sequence[AgentArtifact]) -> None:
        """Pieces may be appended to what only a snapshot of the Task has. The last one counts, as for the Router."""
        for name in self._in_snapshot:
            del self._begun[name]
        begun = {one.artifact_id: one.parts for one in artifacts if one.artifact_id not in self._begun}
        self._in_snapshot = set(begun)
        self._begun |= {name: _added(hashlib.sha256(), parts) for name, parts in begun.items()}


def _added(digest: "hashlib._Hash", parts: Iterable[msgspec.Raw]) -> "hashlib._Hash":
    """Texts as they follow each other, whatever their pieces; any other part as it is spelt."""
    for part in parts:
        text = text_of(part)
        digest.update(b"\0" + bytes(part) if text is None else text[1].encode())
    return digest
