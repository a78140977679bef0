"""Whether an Accept header allows one JSON answer or an event stream, by RFC 9110 and nothing looser."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED = r'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
_ELEMENT = re.compile(
    rf"(?P<type>{_WORD})/(?P<subtype>{_WORD})"
    rf"(?P<parameters>(?:[ \t]*+;[ \t]*+(?:{_WORD}=(?:{_WORD}|{_QUOTED}))?)*+)"
)
_PARAMETER = re.compile(rf"({_WORD})=({_WORD}|{_QUOTED})")
_COMMAS = re.compile(r"[ \t,]*+")
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_ESCAPED = re.compile(r"\\(.)")


class _Unreadable(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class _MediaRange:
    """One range with its weight; `plain` when it has no parameter but `charset=utf-8`."""

    type: str
    subtype: str
    weight: float
    plain: bool


def allows_json(values: Sequence[bytes]) -> bool:
    """Whether `application/json` has a weight above 0; a missing or empty header allows everything."""
    return _allows(values, "application", "json", usual=frozenset({b"*/*", b"application/json"}))


def allows_event_stream(values: Sequence[bytes]) -> bool:
    """Whether `text/event-stream` has a weight above 0; a missing or empty header allows everything."""
    return _allows(values, "text", "event-stream", usual=frozenset({b"*/*", b"text/event-stream"}))


def _allows(values: Sequence[bytes], type_: str, subtype: str, usual: frozenset[bytes]) -> bool:
    """`usual` are the headers that most callers send; they need no reading."""
    if not values or (len(values) == 1 and values[0] in usual):
        return True
    try:
        ranges = list(_media_ranges(values))
    except _Unreadable:
        return False
    return not ranges or _weight(ranges, type_, subtype) > 0


def _weight(ranges: Sequence[_MediaRange], type_: str, subtype: str) -> float:
    """The weight that the most specific matching range gives; between equally specific ones the higher."""
    for name in ((type_, subtype), (type_, "*"), ("*", "*")):
        weights = [found.weight for found in ranges if found.plain and (found.type, found.subtype) == name]
        if weights:
            return max(weights)
    return 0.0


def _media_ranges(values: Sequence[bytes]) -> Iterator[_MediaRange]:
    """Several header lines are one list; empty list members are skipped."""
    text = ",".join(value.decode("latin-1") for value in values)
    position = _skip_commas(text, 0)
    while position < len(text):
        element = _ELEMENT.match(text, position)
        if element is None:
            raise _Unreadable
        yield _media_range(element)
        position = _skip_commas(text, element.end())
        if position < len(text) and "," not in text[element.end() : position]:
            raise _Unreadable


def _skip_commas(text: str, position: int) -> int:
    match = _COMMAS.match(text, position)
    return position if match is None else match.end()


def _media_range(element: re.Match[str]) -> _MediaRange:
    weight: float | None = None
    plain = True
    for name, value in _PARAMETER.findall(element["parameters"]):
        if name.lower() != "q":
            plain = plain and name.lower() == "charset" and _unquoted(value).lower() == "utf-8"
        elif weight is not None or _WEIGHT.fullmatch(value) is None:
            raise _Unreadable
        else:
            weight = float(value)
    return _MediaRange(element["type"].lower(), element["subtype"].lower(), 1.0 if weight is None else weight, plain)


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
