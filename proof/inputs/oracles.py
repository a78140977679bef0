"""Independent readings to compare the platform's own with: strict JSON, and the Accept header by its characters."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class NotStrict(ValueError):
    """The text is no strict JSON."""


def reading(body: bytes, depth: int) -> Any:
    """The value with every number as it is written, so that two spellings of one number differ."""
    try:
        text = body.decode("utf-8")
        if text.startswith("\ufeff") or _deepest(text) > depth:
            raise NotStrict
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_Spelled, parse_int=_Spelled
        )
        _written(value).encode("utf-8")
    except (ValueError, RecursionError):
        raise NotStrict from None
    return value


class _Spelled(str):
    """A number as text; never equal to a string value, because that is a plain str."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Spelled) and str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotStrict
    return value


def _refused(_: str) -> None:
    raise NotStrict


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _deepest(text: str) -> int:
    """Levels of brackets outside strings; a text of one value alone has none."""
    brackets = (character for character in _STRING.sub("", text) if character in "[]{}")
    return max(accumulate(1 if character in "[{" else -1 for character in brackets), default=0)


class _Unreadable(ValueError):
    pass


@dataclass
class _Range:
    name: str
    weight: float = 1.0
    weighted: bool = False
    plain: bool = True


@dataclass
class _Text:
    characters: str
    at: int = 0
    ranges: list[_Range] = field(default_factory=list)

    @property
    def next(self) -> str:
        return self.characters[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        if self.next != character:
            return False
        self.at += 1
        return True

    def blanks(self) -> None:
        while self.next and self.next in " \t":
            self.at += 1

    def token(self) -> str:
        start = self.at
        while self.next in _TOKEN and self.next:
            self.at += 1
        if start == self.at:
            raise _Unreadable
        return self.characters[start : self.at]

    def value(self) -> tuple[str, bool]:
        """A token, or what a quoted string stands for; whether it was quoted."""
        if not self.take('"'):
            return self.token(), False
        said = ""
        while not self.take('"'):
            self.take("\\")
            character = self.next
            if not character or not (character == "\t" or " " <= character <= "~" or character >= "\x80"):
                raise _Unreadable
            self.at += 1
            said += character
        return said, True


def acceptable(values: Sequence[bytes]) -> tuple[bool, bool]:
    """Whether one JSON answer, and whether an event stream, may be given."""
    try:
        ranges = _ranges(_Text(",".join(value.decode("latin-1") for value in values)))
    except _Unreadable:
        return False, False
    usable = [found for found in ranges if found.plain]
    stream = any(found.name == "text/event-stream" and found.weight > 0 for found in usable)
    if not ranges:
        return True, False
    for name in ("application/json", "application/*", "*/*"):
        weights = [found.weight for found in usable if found.name == name]
        if weights:
            return max(weights) > 0, stream
    return False, stream


def _ranges(text: _Text) -> list[_Range]:
    while True:
        text.blanks()
        while text.take(","):
            text.blanks()
        if not text.next:
            return text.ranges
        text.ranges.append(_range(text))
        text.blanks()
        if text.next not in {"", ","}:
            raise _Unreadable


def _range(text: _Text) -> _Range:
    kind = text.token()
    if not text.take("/"):
        raise _Unreadable
    found = _Range(f"{kind}/{text.token()}".lower())
    while True:
        start = text.at
        text.blanks()
        if not text.take(";"):
            text.at = start
            return found
        text.blanks()
        if text.next in _TOKEN and text.next:
            _parameter(text, found)


def _parameter(text: _Text, found: _Range) -> None:
    name = text.token().lower()
    if not text.take("="):
        raise _Unreadable
    value, quoted = text.value()
    if name != "q":
        found.plain = found.plain and (name, value.lower()) == ("charset", "utf-8")
        return
    whole, dot, rest = value.partition(".")
    digits = len(rest) <= 3 and all(digit in "0123456789" for digit in rest)
    if quoted or found.weighted or whole not in {"0", "1"} or not digits or (whole == "1" and rest.strip("0")):
        raise _Unreadable
    found.weight, found.weighted = float(f"{whole}.{rest or 0}" if dot else whole), True
