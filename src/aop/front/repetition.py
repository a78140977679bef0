"""Streams of words repeat one event with another text: such an event is not read again, only its text is put in."""

from collections.abc import Callable

import msgspec

from aop.a2a.dialect import AgentResponse
from aop.a2a.repetition import EventTemplate
from aop.a2a.v0_3 import Kind, text_of
from aop.front.artifacts import StreamedArtifacts


class RepeatedEvents:
    """Belongs to one stream whose events are passed on and not collected: a repeated one has no parts of its own."""

    __slots__ = ("_add", "_after_in_response", "_artifacts", "_before_in_response", "_last", "_template")

    def __init__(self, artifacts: StreamedArtifacts) -> None:
        self._artifacts = artifacts
        self._template = EventTemplate()
        self._last: AgentResponse | None = None
        self._add: Callable[[bytes], None] | None = None
        self._before_in_response = self._after_in_response = b""

    def repeated(self, text: bytes) -> AgentResponse | None:
        last, add, found = self._last, self._add, self._template.value(text)
        if last is None or add is None or found is None or not isinstance(found[1], str):
            return None
        add(found[1].encode())
        return AgentResponse(
            self._before_in_response + found[0] + self._after_in_response, last.result, is_last=last.is_last
        )

    def passed_on(self, text: bytes, read: AgentResponse) -> AgentResponse | None:
        """What the Router gets of an event that was read; None for what it has already."""
        seen = self._artifacts.passed_on(read)
        self._template.forget()
        if seen is read:
            self._learn(text, seen)
        return seen

    def _learn(self, text: bytes, seen: AgentResponse) -> None:
        """Only an appended piece with one text is repeated."""
        result = seen.result
        if result is None or result.kind != Kind.ARTIFACT or result.artifact is msgspec.UNSET:
            return
        if result.append is not True or len(result.artifact.parts) != 1:
            return
        found = text_of(result.artifact.parts[0])
        # The same bytes elsewhere would leave open which of them is the text.
        if found is not None and text.count(found[0]) == 1 == seen.text.count(found[0]):
            before, _, after = text.partition(found[0])
            self._template.keep(before, after, str)
            self._before_in_response, _, self._after_in_response = seen.text.partition(found[0])
            self._last = seen
            self._add = self._artifacts.adding(result.artifact.artifact_id)
