"""Strict JSON: the one parser of every entry point, and the removal of blanks between tokens.

A refused text breaks one of five rules. They are tried in this order, and the first that fails is the one reported:
not UTF-8, empty or marked with a byte order mark (`json_syntax`); nested too deep (`depth`); no JSON value
(`json_syntax`); more behind the first value (`trailing_data`); a repeated member name (`duplicate_member`); half of a
surrogate pair (`surrogate`).
"""

import json
import re
import sys
from array import array
from collections.abc import Callable, Iterable
from enum import StrEnum
from itertools import accumulate
from typing import Final, NoReturn, TypeVar

import msgspec

T = TypeVar("T")

REQUEST_DEPTH = 64
AGENT_DEPTH = 96
UNIT_DEPTH = 128

PointerTokens = tuple[str | int, ...]


class JsonRule(StrEnum):
    JSON_SYNTAX = "json_syntax"
    DUPLICATE_MEMBER = "duplicate_member"
    TRAILING_DATA = "trailing_data"
    SURROGATE = "surrogate"
    DEPTH = "depth"


class JsonRefused(ValueError):
    """The rule that was broken and where: tokens of a JSON Pointer, names taken from the text itself.

    A repeated name, or one with half a surrogate pair, is pointed at by its object. Syntax, depth and trailing data
    concern the whole text.
    """

    def __init__(self, rule: JsonRule, pointer: PointerTokens = ()) -> None:
        super().__init__(rule.value)
        self.rule = rule
        self.pointer = pointer


NOT_READ: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What msgspec raises for a text that it cannot read, where the text was not parsed as strict JSON before."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

# `in` finds a number in bytes directly; for a bytes object CPython first raises and drops an exception inside.
_BACKSLASH, _QUOTE = ord("\\"), ord('"')

# Every integer literal shorter than this has a finite double.
_OVERFLOW_DIGITS = 309
_LARGEST = sys.float_info.max
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_DIGIT_RUN = b"0" * _OVERFLOW_DIGITS


def parse(body: bytes, max_depth: int = REQUEST_DEPTH) -> object:
    """The value of a strict JSON text.

    A number written with digits only is an int, any other a float; one whose double is not finite becomes the largest
    finite double of its sign, which is how schema checks are to read it.
    """
    # The fast way: the fastest decoder there is, which is not strict, and a proof that it lost nothing. Checks on bytes
    # cost a fraction of decoding, so the proof is cheap; where it fails, the text is read again slowly.
    try:
        value = _decode(body)
        if has_lost_nothing(body, value, max_depth):
            return value
    except NOT_READ:
        pass  # Why, and whether at all, is for the slow reading to say.
    return parse_slowly(body, max_depth)


def decode(body: bytes, kind: type[T], max_depth: int = REQUEST_DEPTH) -> T:
    """A document of this kind. Raises msgspec.DecodeError also for a text that is not strict."""
    try:
        parse(body, max_depth)
    except JsonRefused as refused:
        raise msgspec.DecodeError(f"{refused.rule} at /{'/'.join(map(str, refused.pointer))}") from None
    return msgspec.json.decode(body, type=kind)


def compact(raw: bytes) -> bytes:
    """The same JSON text without blanks between tokens; every number and string keeps its spelling."""
    return msgspec.json.format(raw, indent=-1)


def parse_slowly(body: bytes, max_depth: int = REQUEST_DEPTH) -> object:
    """Means the same as `parse` for every text; built to name the broken rule rather than for speed."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonRefused(JsonRule.JSON_SYNTAX) from None
    if _is_too_deep(body, max_depth):
        raise JsonRefused(JsonRule.DEPTH)
    value, repeats = _read(text)
    if repeats:
        raise JsonRefused(JsonRule.DUPLICATE_MEMBER, _find(value, _CONTAINERS, _is_repeating) or ())
    if _SURROGATE_ESCAPE.search(text) is not None:
        pointer = _find(value, _TEXT_BEARERS, _holds_surrogate)
        if pointer is not None:
            raise JsonRefused(JsonRule.SURROGATE, pointer)
    return value


def has_lost_nothing(body: bytes, value: object, max_depth: int, max_text: int | None = None) -> bool:
    """Whether a decoded value surely is the strict reading: not too deep, no name repeated, no number to replace.

    A decoder that drops a repeated member drops at least its colon. So where no colon is written as an escape, a value
    that is written back with as many colons as it was read from has all its members. The same holds for several texts
    one behind the other, of which each was decoded on its own, and the list of their values; `max_text` is the size of
    the longest of them, and rules that it cannot break are not looked at.
    """
    written, size = _encode(value), len(body)
    if max_text is None:
        max_text = size
    # Marks are counted by taking them out: twice as fast as bytes.count, which does not skip from hit to hit.
    return (
        (
            max_text <= max_depth
            or 2 * size - len(body.replace(b"[", b"")) - len(body.replace(b"{", b"")) <= max_depth
            or not _is_too_deep(body, max_depth)
        )
        and not (_BACKSLASH in body and (b"\\u003a" in body or b"\\u003A" in body))
        and (max_text < _OVERFLOW_DIGITS or not has_long_digits(body))
        and len(written) - len(written.replace(b":", b"")) == size - len(body.replace(b":", b""))
    )


def has_long_digits(body: bytes) -> bool:
    """Whether an integer beyond the doubles may stand in the text."""
    # Any run of 309 digits shows at least three in a row when only every 103rd byte is read.
    return (
        len(body) >= _OVERFLOW_DIGITS
        and b"000" in body[::103].translate(_DIGITS_TO_ZERO)
        and _DIGIT_RUN in body.translate(_DIGITS_TO_ZERO)
    )


_BRACKETS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_BLOCK = 1 << 16


def _is_too_deep(body: bytes, max_depth: int) -> bool:
    """Whether more than max_depth brackets are open at once outside strings, be the text well-formed or not."""
    if _BACKSLASH in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    skeleton = body.translate(_BRACKETS, _NEITHER_BRACKET_NOR_QUOTE)
    skeleton = skeleton.replace(b'""', b"")  # changes for no other byte whether it lies inside a string
    if _QUOTE in skeleton:
        skeleton = b"".join(skeleton.split(b'"')[::2])
    depth = 0
    for start in range(0, len(skeleton), _BLOCK):
        steps = array("b", skeleton[start : start + _BLOCK])
        if max(accumulate(steps, initial=depth)) > max_depth:
            return True
        depth += sum(steps)
    return False


_LEADING_BLANKS = re.compile(r"[ \t\n\r]*+")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_EXPONENT = re.compile(r"[0-9][eE]")
_BROKEN_SCALAR = re.compile(r"[-+.0-9A-Za-z]{2}")


class _Repeating(dict[str, object]):
    """An object in which a member name occurs twice."""


def _read(text: str) -> tuple[object, bool]:
    """The first value of the text and whether any of its objects repeats a name."""
    repeats: list[bool] = []

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeats.append(True)
        return _Repeating(found)

    start = _end_of_blanks(text, 0)
    try:
        value, end = _decoder(text, members).raw_decode(text, start)
    except ValueError:
        raise JsonRefused(JsonRule.JSON_SYNTAX) from None
    if _end_of_blanks(text, end) != len(text):
        # `01`, `1.` and `nullx` are words that never were JSON rather than a value with something behind it.
        broken = _BROKEN_SCALAR.match(text, end - 1) is not None
        raise JsonRefused(JsonRule.JSON_SYNTAX if broken else JsonRule.TRAILING_DATA)
    return value, bool(repeats)


def _decoder(text: str, members: Callable[[list[tuple[str, object]]], dict[str, object]]) -> json.JSONDecoder:
    # Reading numbers through functions of our own costs a call each: only when one of them may overflow.
    overflow = _EXPONENT.search(text) is not None or has_long_digits(text.encode())
    return json.JSONDecoder(
        object_pairs_hook=members,
        parse_float=_finite_float if overflow else float,
        parse_int=_bounded_int if overflow else int,
        parse_constant=_refuse_constant,
    )


def _end_of_blanks(text: str, start: int) -> int:
    match = _LEADING_BLANKS.match(text, start)
    return start if match is None else match.end()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite_float(literal: str) -> float:
    return max(-_LARGEST, min(float(literal), _LARGEST))


def _bounded_int(literal: str) -> int | float:
    # Longer literals never become an int: their conversion takes quadratic time.
    if len(literal) < _OVERFLOW_DIGITS or (len(literal.lstrip("-")) == _OVERFLOW_DIGITS and _fits(int(literal))):
        return int(literal)
    return _finite_float(literal)


def _fits(number: int) -> bool:
    try:
        float(number)
    except OverflowError:
        return False
    return True


_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTAINERS = frozenset({dict, list, _Repeating})
_TEXT_BEARERS = frozenset({dict, list, str})


def _find(value: object, kinds: frozenset[type], offends: Callable[[object], bool]) -> PointerTokens | None:
    """Where the first offending value stands, in reading order; only values of these kinds are checked."""
    if offends(value):
        return ()
    children: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for token, child in children:
        if child and type(child) in kinds:
            tail = _find(child, kinds, offends)
            if tail is not None:
                return (token, *tail)
    return None


def _is_repeating(value: object) -> bool:
    return type(value) is _Repeating


def _holds_surrogate(value: object) -> bool:
    """Of an object only its names count here; its values stand for themselves."""
    text = value if isinstance(value, str) else "".join(value) if isinstance(value, dict) else ""
    return not text.isascii() and _SURROGATE.search(text) is not None
