"""SemVer ranges: the language of version constraints, read into bounds on precedence.

Partial versions, `~`, `^` and hyphen ranges mean what node-semver makes of them. Different are: `!=` exists; a comma
joins comparators as a space does; `=` and bare full versions compare build metadata too; and a pre-release is permitted
by any branch that itself names a pre-release, whatever numbers that one has.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from aop.base.semver import BUILD, NUMBER, PRERELEASE, Precedence, Version, precedence_of

MAX_RANGE_LENGTH = 256

_PART = rf"(?:{NUMBER}|[xX*])"
_OPERAND_TEXT = rf"{_PART}(?:\.{_PART}(?:\.{_PART}(?:-{PRERELEASE})?(?:\+{BUILD})?)?)?"
_OPERAND = re.compile(
    rf"({_PART})(?:\.({_PART})(?:\.({_PART})(?:-({PRERELEASE}))?(?:\+({BUILD}))?)?)?",
    re.ASCII,
)
# One step through a branch: `A - B`, or an operator with its operand; what follows must be a space or the end.
_STEP = re.compile(
    rf" *+(?:(?P<low>{_OPERAND_TEXT}) ++- ++(?P<high>{_OPERAND_TEXT})"
    rf"|(?P<operator>!=|>=|<=|[=<>~^])? *+(?P<operand>{_OPERAND_TEXT}))(?= |\Z)",
    re.ASCII,
)


class RangeSyntax(ValueError):
    """The text is not a version range."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Versions from `low` on and before `high`, each end open when None; `build` must be equal when count."""

    low: Precedence | None = None
    high: Precedence | None = None
    build: str | None = None
    excluded: bool = False

    def permits(self, version: Version) -> bool:
        place = version.precedence
        inside = (
            (self.low is None or self.low <= place)
            and (self.high is None or place < self.high)
            and (self.build is None or self.build == version.build)
        )
        return inside is not self.excluded


@dataclass(frozen=True, slots=True)
class _Branch:
    spans: tuple[_Span, ...]
    names_prerelease: bool

    def permits(self, version: Version) -> bool:
        if version.is_prerelease and not self.names_prerelease:
            return False
        return all(span.permits(version) for span in self.spans)


@dataclass(frozen=True, slots=True)
class Range:
    text: str
    branches: tuple[_Branch, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        if len(text) > MAX_RANGE_LENGTH:
            raise RangeSyntax("longer than a range may be")
        return cls(text, tuple(_branch(part) for part in text.split("||")))

    def permits(self, version: Version) -> bool:
        return any(branch.permits(version) for branch in self.branches)


@dataclass(frozen=True, slots=True)
class _Operand:
    """A version of which only the leading `numbers` are count, three when it is full."""

    numbers: tuple[int, ...]
    prerelease: str | None = None
    build: str = ""

    @property
    def start(self) -> Precedence:
        major, minor, patch = (*self.numbers, 0, 0, 0)[:3]
        return precedence_of(major, minor, patch, self.prerelease)

    @property
    def is_full(self) -> bool:
        return len(self.numbers) == 3

    def behind(self, kept: int) -> Precedence:
        """The exclusive end of all versions that share the first `kept` numbers: `X.Y.Z-0` of the next ones."""
        major, minor, patch = (*self.numbers[: kept - 1], self.numbers[kept - 1] + 1, 0, 0)[:3]
        return precedence_of(major, minor, patch, "0")

    @property
    def just_behind(self) -> Precedence:
        """The exclusive end of this operand: of a full one itself, of a partial one all that begin with it."""
        if not self.is_full:
            return self.behind(len(self.numbers))
        # No identifier is lower than this one, so nothing lies between the operand and this end.
        major, minor, patch, is_release, identifiers = self.start
        return major, minor, patch, is_release, (*identifiers, (-1, 0, ""))


_EVERYTHING = _Span()
_NOTHING = _Span(excluded=True)


def _branch(text: str) -> _Branch:
    steps = [step for part in text.split(",") for step in _steps(part)]
    operands = [_operand(step[name]) for step in steps for name in ("low", "high", "operand") if step[name]]
    return _Branch(tuple(map(_span, steps)), any(operand.prerelease is not None for operand in operands))


def _steps(text: str) -> Iterator[re.Match[str]]:
    position, end = 0, len(text.rstrip(" "))
    if end == 0:
        raise RangeSyntax("nothing stands between two separators")
    while position < end:
        step = _STEP.match(text, position)
        if step is None:
            raise RangeSyntax("a comparator cannot be read")
        yield step
        position = step.end()


def _operand(text: str) -> _Operand:
    match = _OPERAND.fullmatch(text)
    if match is None:
        raise RangeSyntax("an operand cannot be read")
    numbers: list[int] = []
    for part in match.group(1, 2, 3):
        if part is None or part in "xX*":
            break
        numbers.append(int(part))
    if match[4] is not None and len(numbers) < 3:
        raise RangeSyntax("a wildcard has a pre-release")
    return _Operand(tuple(numbers), match[4], match[5] or "")


def _span(step: re.Match[str]) -> _Span:
    if step["low"]:
        low, high = _operand(step["low"]), _operand(step["high"])
        return _Span(low.start if low.numbers else None, high.just_behind if high.numbers else None)
    operand, operator = _operand(step["operand"]), step["operator"] or "="
    if operator in {"=", "!="}:
        return _equal(operand, excluded=operator == "!=")
    if not operand.numbers:
        return _NOTHING if operator in {"<", ">"} else _EVERYTHING
    if operator in {"~", "^"}:
        return _Span(operand.start, operand.behind(_kept_by(operator, operand)))
    return _bound(operator, operand)


def _equal(operand: _Operand, *, excluded: bool) -> _Span:
    if not operand.numbers:
        return _NOTHING if excluded else _EVERYTHING
    build = operand.build if operand.is_full and not excluded else None
    return _Span(operand.start, operand.just_behind, build, excluded)


def _kept_by(operator: str, operand: _Operand) -> int:
    """How many leading numbers `~` or `^` holds fast."""
    count = len(operand.numbers)
    if operator == "~":
        return min(count, 2)
    for index, number in enumerate(operand.numbers):
        if number != 0:
            return index + 1
    return count


def _bound(operator: str, operand: _Operand) -> _Span:
    if operator == ">=":
        return _Span(low=operand.start)
    if operator == "<=":
        return _Span(high=operand.just_behind)
    if operator == ">":
        return _Span(low=operand.just_behind if operand.is_full else _release_of(operand.just_behind))
    return _Span(high=operand.start if operand.is_full else precedence_of(*operand.start[:3], "0"))


def _release_of(place: Precedence) -> Precedence:
    return precedence_of(*place[:3])
