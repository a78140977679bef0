"""The Accept header by RFC 9110, character by character: what our reader is held to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class _Unreadable(ValueError):
    pass


_BEHIND = {" ": "behind", "\t": "behind", ";": "semicolon", ",": "between"}
_WORDS_TO = {
    "between": ("type", {" ": "between", "\t": "between", ",": "between"}),
    "type": ("type", {"/": "slash"}),
    "slash": ("subtype", {}),
    "subtype": ("subtype", _BEHIND),
    "behind": (None, _BEHIND),
    "semicolon": ("name", {**_BEHIND, " ": "semicolon", "\t": "semicolon"}),
    "name": ("name", {"=": "equals"}),
    "equals": ("value", {'"': "quoted"}),
    "value": ("value", _BEHIND),
    "closed": (None, _BEHIND),
}
"""RFC 9110 as states: where a character of a token leads, and where others do. Quoted strings take nearly anything."""
_MAY_END = frozenset({"between", "subtype", "behind", "semicolon", "value", "closed"})


def _after(state: str, character: str) -> str | None:
    if state in {"quoted", "escape"}:
        if state == "quoted" and character in '"\\':
            return "closed" if character == '"' else "escape"
        return "quoted" if character == "\t" or " " <= character <= "~" or character >= "\x80" else None
    word, others = _WORDS_TO[state]
    return word if character in _TOKEN else others.get(character)


@dataclass
class _Range:
    name: str = ""
    parameters: list[list[str]] = field(default_factory=list)
    """Names and values; of a quoted value the first quote is kept."""

    @property
    def weight(self) -> float:
        weights = [value for name, value in self.parameters if name.lower() == "q"] or ["1"]
        whole, _, rest = weights[0].partition(".")
        digits = len(rest) <= 3 and all(digit in "0123456789" for digit in rest)
        if len(weights) > 1 or whole not in {"0", "1"} or not digits or (whole == "1" and rest.strip("0")):
            raise _Unreadable
        return float(f"{whole}.{rest or 0}")

    @property
    def plain(self) -> bool:
        others = [(name.lower(), value.lower().lstrip('"')) for name, value in self.parameters if name.lower() != "q"]
        return all(other == ("charset", "utf-8") for other in others)


def acceptable(values: Sequence[bytes]) -> tuple[bool, bool]:
    """Whether one JSON answer, and whether an event stream, may be given."""
    try:
        ranges = _ranges(",".join(value.decode("latin-1") for value in values))
        usable = [(found.name.lower(), weight) for found in ranges for weight in [found.weight] if found.plain]
    except _Unreadable:
        return False, False
    if not ranges:
        return True, True
    return _matched(usable, "application/json"), _matched(usable, "text/event-stream")


def _matched(usable: Sequence[tuple[str, float]], media_type: str) -> bool:
    for candidate in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        weights = [weight for name, weight in usable if name == candidate]
        if weights:
            return max(weights) > 0
    return False


def _ranges(text: str) -> list[_Range]:
    ranges: list[_Range] = []
    state = "between"
    for character in text:
        before, after = state, _after(state, character)
        if after is None:
            raise _Unreadable
        if (before, after) == ("between", "type"):
            ranges.append(_Range())
        if (before, after) == ("semicolon", "name"):
            ranges[-1].parameters.append(["", ""])
        if after in {"type", "slash", "subtype"}:
            ranges[-1].name += character
        elif after in {"name", "value", "quoted"}:
            ranges[-1].parameters[-1][after != "name"] += character
        state = after
    if state not in _MAY_END:
        raise _Unreadable
    return ranges
