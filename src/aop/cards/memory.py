"""How much memory a JSON text takes once it is decoded, told from the text alone."""

import re

MAX_CHECK_BYTES = 32 * 1024 * 1024
"""What one check may add to a process: the text and what it is decoded to."""

_OBJECT_BYTES, _ARRAY_BYTES, _VALUE_BYTES, _STRING_BYTES = 250, 64, 40, 60
_MAX_LEFT_OUT = 200_000
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ASTRAL = re.compile(rb"[\xf0-\xf7]|\\u[dD]")


def decoded_bytes(text: bytes) -> int:
    """At most; the text itself is not counted."""
    width = _width(text)
    quotes = text.count(b'"')
    roughly = _structure(text) + width * len(text) + _STRING_BYTES * quotes // 2
    # To leave out what stands inside strings takes memory too, by their number.
    if roughly <= MAX_CHECK_BYTES or quotes > _MAX_LEFT_OUT:
        return roughly
    without = _STRING.sub(b'""', text)
    return _structure(without) + _STRING_BYTES * without.count(b'"') // 2 + width * (len(text) - len(without))


def is_affordable(text: bytes) -> bool:
    return len(text) + decoded_bytes(text) <= MAX_CHECK_BYTES


def _structure(text: bytes) -> int:
    count = text.count
    return _OBJECT_BYTES * count(b"{") + _ARRAY_BYTES * count(b"[") + _VALUE_BYTES * (1 + count(b","))


def _width(text: bytes) -> int:
    """One character outside the first plane makes each character of its string four bytes wide."""
    if _ASTRAL.search(text) is not None:
        return 4
    return 1 if text.isascii() and b"\\u" not in text else 2
