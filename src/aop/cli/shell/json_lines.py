"""Where each value stands in a JSON text, so that a problem can name its line, and one value can be replaced."""

import json
import re
from bisect import bisect_left
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in its types

Tokens = tuple[str | int, ...]
Spans = dict[Tokens, tuple[int, int]]
"""By the tokens of each value's JSON Pointer, where it begins and ends in the text."""

_BLANKS = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]+")


def line_numbers(text: str) -> dict[Tokens, int]:
    """By the tokens of each value's JSON Pointer, the line where it begins; a member begins with its name.

    The text is valid JSON. Of a repeated name the last one counts.
    """
    return _scanned(text).lines


def value_spans(text: str) -> Spans:
    """Of a valid JSON text."""
    return _scanned(text).spans


def _scanned(text: str) -> "_Scan":
    scan = _Scan(text)
    scan.value((), scan.blanks(0))
    return scan


def syntax_problem(text: str) -> tuple[int, int, str] | None:
    """Line, column and what is wrong there; None for a text that has the syntax of JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        return problem.lineno, problem.colno, problem.msg
    except (RecursionError, ValueError):  # too deep, or a number with too many digits: no fault of its syntax
        return None
    return None


def line_of(found: dict[Tokens, int], pointer: str) -> int | None:
    """The line of a pointer, or of the closest thing around it that is there."""
    names = [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]
    by_text = {tuple(map(str, tokens)): line for tokens, line in found.items()}
    for length in range(len(names), -1, -1):
        line = by_text.get(tuple(names[:length]))
        if line is not None:
            return line
    return None


class _Scan:
    def __init__(self, text: str) -> None:
        self.lines: dict[Tokens, int] = {}
        self.spans: Spans = {}
        self._text = text
        self._ends = [place for place, sign in enumerate(text) if sign == "\n"]

    def value(self, tokens: Tokens, at: int) -> int:
        """Returns where the text goes on after the value and the blanks after it."""
        self.lines.setdefault(tokens, self._line(at))
        end = self._end(tokens, at)
        self.spans[tokens] = at, end
        return self.blanks(end)

    def _end(self, tokens: Tokens, at: int) -> int:
        opening = self._text[at]
        if opening == "{":
            return self._members(tokens, at)
        if opening == "[":
            return self._items(tokens, at)
        if opening == '"':
            return self._string(at)[1]
        match = _SCALAR.match(self._text, at)
        return at + 1 if match is None else match.end()

    def _members(self, tokens: Tokens, at: int) -> int:
        at = self.blanks(at + 1)
        while self._text[at] != "}":
            name, end = self._string(at)
            self.lines[*tokens, name] = self._line(at)
            at = self.value((*tokens, name), self.blanks(self.blanks(end) + 1))
            at = self.blanks(at + 1) if self._text[at] == "," else at
        return at + 1

    def _items(self, tokens: Tokens, at: int) -> int:
        at, number = self.blanks(at + 1), 0
        while self._text[at] != "]":
            at = self.value((*tokens, number), at)
            number += 1
            at = self.blanks(at + 1) if self._text[at] == "," else at
        return at + 1

    def _string(self, at: int) -> tuple[str, int]:
        value: str
        end: int
        value, end = scanstring(self._text, at + 1, True)
        return value, end

    def blanks(self, at: int) -> int:
        match = _BLANKS.match(self._text, at)
        return at if match is None else match.end()

    def _line(self, at: int) -> int:
        return bisect_left(self._ends, at) + 1
