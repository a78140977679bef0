"""Reads a stream event by its value alone when the bytes around the value are those of the event before.

Most streams are one artifact in many pieces: JSON-RPC envelope, ids and artifact are the same bytes in every event. To
read them in full costs the Router more than all else it does with a chunk: 10 µs of CPU, and 2 µs by the value alone.
Events that came together and repeat each other are read together, which takes a quarter of that.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

import msgspec

from aop.a2a.answers import AgentFault, Result, read_result
from aop.a2a.judge import value_of
from aop.a2a.v0_3 import Artifact, ArtifactUpdate, PartKind
from aop.base import json

_KIND = frozenset({"artifact-update"})
_VALUE_DEPTH = json.AGENT_DEPTH - 6
"""The value lies inside five levels: envelope, result, artifact, parts, part. One more level is in reserve."""

_MAX_BYTES = 64 * 1024
"""A longer event is not looked at in the event loop."""
_MAX_LESSONS = 4
_MAX_RUN = 64
_MAX_RUN_BYTES = 16 * 1024
"""Events that are read together, and what their values may have together: not more than one long chunk often has."""
_OTHERS_AT_END = 2
"""Often a stream's last piece of an artifact and its terminal event come with those before."""
_BLANKS = b" \t\n\r"
_QUOTE = ord('"')
_TYPES: dict[PartKind, type] = {PartKind.TEXT: str, PartKind.FILE: dict}
"""Of the value, where that is not free."""
_decode = msgspec.json.Decoder().decode
Run = tuple[Sequence[bytes], Sequence[object]]
"""Of events that repeat the one before them: the bytes of their values, and the values."""


class EventTemplate:
    """The bytes around the value of one event. Another event with the same bytes around another JSON value means the
    same but for the value, so only that has to be read. In every doubt there is no value, and all of it is read.
    """

    def __init__(self) -> None:
        self._before = b""
        self._behind = b""
        self._place = slice(0, 0)
        self._type: type | None = None

    def value(self, event: bytes) -> tuple[bytes, object] | None:
        """The bytes of the value and the value itself; None if the event must be read in full."""
        if not self._before or not self._repeats(event) or len(event) > _MAX_BYTES:
            return None
        value = event[self._place].strip(_BLANKS)
        if not value:
            return None
        try:
            # For a string, or a short text with at most one member, right syntax is enough to be strict JSON: it cannot
            # be too deep and cannot repeat a name.
            is_simple = value[0] == _QUOTE or (len(value) <= _VALUE_DEPTH and value.count(b":") < 2)
            read = _decode(value) if is_simple else json.parse(value, _VALUE_DEPTH)
        except (json.JsonRefused, *json.NOT_READ):
            return None
        return (value, read) if self._type is None or type(read) is self._type else None

    def keep(self, before: bytes, behind: bytes, kind: type | None) -> None:
        """`kind` is the type that the value must have, if it is not free."""
        self._before, self._behind, self._type = before, behind, kind
        self._place = slice(len(before), -len(behind))

    def forget(self) -> None:
        self._before = b""

    def _repeats(self, event: bytes) -> bool:
        return event.startswith(self._before) and event.endswith(self._behind)


class Repetition(EventTemplate):
    """Of the last event, if that was a middle piece of an artifact, which changes no state of the stream rules."""

    def __init__(self, request_id: str) -> None:
        super().__init__()
        self._request_id = request_id
        self._between = b""
        self._lessons = 0

    def runs(self, events: Iterable[bytes]) -> Iterator[Run | bytes]:
        """What came together, in order: runs of events that repeat the one before, and each event that must be read in
        full. The caller reads that one and calls `learn` before it takes what follows."""
        if not isinstance(events, list):
            return (self._alone(event) for event in events)
        return iter((self._alone(events[0]),)) if len(events) == 1 else self._runs(events)

    def _alone(self, event: bytes) -> Run | bytes:
        repeated = self.value(event)
        return event if repeated is None else ((repeated[0],), (repeated[1],))

    def _runs(self, events: list[bytes]) -> Iterator[Run | bytes]:
        place, one_by_one, count = 0, 0, len(events)
        while place < count:
            event = events[place]
            if place >= one_by_one and count - place > 1 and self._before and event.startswith(self._before):
                # At least the event itself, which may be longer than a run may be.
                together = events[place : place + max(1, min(_MAX_RUN, _MAX_RUN_BYTES // len(event)))]
                for _ in range(_OTHERS_AT_END):
                    if not self._repeats(together[-1]) and len(together) > 1:
                        together.pop()
                if len(together) > 1 and (run := self._run(together)) is not None:
                    place += len(run[0])
                    yield run
                    continue
                one_by_one = place + len(together)
            place += 1
            yield self._alone(event)

    def _run(self, events: list[bytes]) -> Run | None:
        """All of them, or those in front of another event; None if they have to be looked at one by one."""
        before, behind = self._before, self._behind
        chunks = [event[self._place].strip(_BLANKS) for event in events]
        # Chunks and the bytes around them make the same text only if each event begins and ends with these bytes. An
        # event too short for them has an empty chunk, which is no JSON.
        if before + self._between.join(chunks) + behind != b"".join(events):
            other = next((place for place, event in enumerate(events) if not self._repeats(event)), 0)
            return self._run(events[:other]) if other > 1 else None
        text = b"".join(chunks)
        if len(text) > _MAX_RUN_BYTES:
            return None
        try:
            values = [*map(_decode, chunks)]
            is_strict = json.has_lost_nothing(text, values, _VALUE_DEPTH, max(map(len, chunks)))
        except json.NOT_READ:
            return None
        fits = self._type is None or {*map(type, values)} == {self._type}
        return (chunks, values) if is_strict and fits else None

    def learn(self, event: bytes, result: Result) -> None:
        """Called after an event was read in full and the rules accepted it. Only the last event may be repeated."""
        self._before = b""
        if not _may_repeat(result) or self._lessons == _MAX_LESSONS or len(event) > _MAX_BYTES:
            return
        self._lessons += 1
        artifact = result.artifact
        value, kind = value_of(artifact.parts), artifact.parts[0].kind
        before, _, behind = event.rpartition(value)
        if len(before) + len(behind) + _MAX_RUN_BYTES > _MAX_BYTES:
            return
        is_only_place = event.find(value) == len(before)
        if is_only_place or self._is_place_of_value(before, behind, artifact):
            self.keep(before, behind, _TYPES.get(kind))
            self._between = behind + before

    def _is_place_of_value(self, before: bytes, behind: bytes, artifact: Artifact) -> bool:
        """The same bytes may occur elsewhere, too. Another value put in this place must be the one that is read."""
        probe = b'{"probe":0}' if artifact.parts[0].kind is PartKind.FILE else b'"probe"'
        try:
            read = read_result(before + probe + behind, self._request_id, _KIND)
        except AgentFault:
            return False
        return isinstance(read, ArtifactUpdate) and value_of(read.artifact.parts) == probe


def _may_repeat(result: Result) -> TypeGuard[ArtifactUpdate]:
    return (
        isinstance(result, ArtifactUpdate)
        and result.append is True
        and result.last_chunk is not True
        and len(result.artifact.parts) == 1
    )
