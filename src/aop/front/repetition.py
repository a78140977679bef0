"""Streams of words repeat one event with another text in it: such an event is not read again, only its text is put in.

An event counts as a repetition when it begins and ends as the one before and has one plain JSON string between. That
string stands where a part's text stood, so nothing else can differ.
"""

from collections.abc import Callable

import msgspec

from aop.front.artifacts import StreamedArtifacts
from aop.front.reading import Kind, Seen, read_part

_QUOTE, _BACKSLASH = ord('"'), ord("\\")


class RepeatedEvents:
    """Belongs to one stream whose events are passed on and not collected: a repeated one has no parts of its own."""

    __slots__ = ("_add", "_after", "_artifacts", "_before", "_last", "_said_after", "_said_before")

    def __init__(self, artifacts: StreamedArtifacts) -> None:
        self._artifacts = artifacts
        self._last: Seen | None = None
        self._add: Callable[[bytes], None] | None = None
        self._before = self._after = self._said_before = self._said_after = b""

    def repeated(self, text: bytes) -> Seen | None:
        last, add = self._last, self._add
        if last is None or add is None or not text.startswith(self._before) or not text.endswith(self._after):
            return None
        value = text[len(self._before) : -len(self._after)]
        if not _is_plain(value):
            return None
        add(value[1:-1])
        return Seen(self._said_before + value + self._said_after, last.result, is_last=last.is_last)

    def passed_on(self, text: bytes, read: Seen) -> Seen | None:
        """What the Router gets of an event that was read; None for what it has already."""
        seen = self._artifacts.passed_on(read)
        self._last = None
        if seen is read:
            self._learn(text, seen)
        return seen

    def _learn(self, text: bytes, seen: Seen) -> None:
        """Only an appended piece with one text is repeated."""
        result = seen.result
        if result is None or result.kind != Kind.ARTIFACT or result.artifact is msgspec.UNSET:
            return
        if result.append is not True:
            return
        if len(result.artifact.parts) != 1:
            return
        value = bytes(read_part(result.artifact.parts[0]).text or b"")
        # The same bytes elsewhere would leave open which of them is the text.
        if _is_plain(value) and text.count(value) == 1 == seen.text.count(value):
            self._before, _, self._after = text.partition(value)
            self._said_before, _, self._said_after = seen.text.partition(value)
            self._last = seen
            self._add = self._artifacts.adding(result.artifact.artifact_id)


def _is_plain(value: bytes) -> bool:
    """A JSON string of visible ASCII without escapes, or with blanks."""
    inner = value[1:-1]
    return (
        len(value) >= 2
        and value[0] == _QUOTE == value[-1]
        and inner.isascii()
        and inner.decode("ascii").isprintable()
        and _QUOTE not in inner
        and _BACKSLASH not in inner
    )
