"""Identifiers: time-ordered for what the platform makes, random where the order would reveal something."""

import os
import re
import threading
import time
from collections.abc import Iterator

SAFE_IDENTIFIER = re.compile(r"[0-9A-Za-z][-.0-9:A-Z_a-z]{0,127}", re.ASCII)
PREFIXED_ID = re.compile(r"([a-z]+)_([0-9a-f]{32})", re.ASCII)
TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}", re.ASCII)

_COUNTER_BITS = 12
_COUNTER_MASK = (1 << _COUNTER_BITS) - 1
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_WITH_VARIANT = {f"{digit:x}": f"{digit & 0b11 | 0b1000:x}" for digit in range(16)}
_ROUNDED_DOWN = {f"{digit:x}": f"{digit & ~0b11:x}" for digit in range(16)}
_RANDOM_BYTES = 4096
_TAIL = re.compile("[0-9a-f]{16}")
_lock = threading.Lock()
_last = 0
_random = b""
_taken = 0
_tails: Iterator[str] = iter(())


def is_safe_identifier(text: str) -> bool:
    return SAFE_IDENTIFIER.fullmatch(text) is not None


def is_trace_id(text: str) -> bool:
    return TRACE_ID.fullmatch(text) is not None


def new_id(prefix: str) -> str:
    """`prefix_` and the 32 lowercase hex digits of a UUIDv7, strictly increasing within this process."""
    return f"{prefix}_{new_hex_id()}"


def new_hex_id() -> str:
    """The 32 lowercase hex digits alone, for what stores ids without their prefix."""
    # Milliseconds and a 12-bit counter form one rising number: a stalled or stepped-back
    # clock borrows from the future instead of repeating or going back.
    global _last  # noqa: PLW0603
    with _lock:
        stamp = (time.time_ns() // 1_000_000) << _COUNTER_BITS
        if stamp <= _last:
            stamp = _last + 1
        _last = stamp
        tail = next(_tails, None) or _first_of_new_tails()
    return f"{stamp >> _COUNTER_BITS:012x}7{stamp & _COUNTER_MASK:03x}{_WITH_VARIANT[tail[0]]}{tail[1:]}"


def new_opening_id() -> str:
    """Hex digits whose next two numbers are free as well: the ids of facts that are recorded as one."""
    digits = new_hex_id()
    return digits[:-1] + _ROUNDED_DOWN[digits[-1]]


def hex_part(identifier: str, prefix: str) -> str | None:
    """What stands behind the prefix when it is such an id, else None."""
    match = PREFIXED_ID.fullmatch(identifier)
    return match[2] if match is not None and match[1] == prefix else None


def new_random_id(prefix: str) -> str:
    return f"{prefix}_{os.urandom(16).hex()}"


def new_request_id() -> str:
    """Of a JSON-RPC request. 96 random bits cannot be guessed, so an answer that bears them was made for this request.

    Every event of a stream repeats them, therefore they are not more.
    """
    with _lock:
        return _random_bytes(12).hex()


def new_trace_id() -> str:
    while True:
        with _lock:
            trace_id = _random_bytes(16).hex()
        if trace_id != _NO_TRACE:
            return trace_id


def new_span_id() -> str:
    while True:
        with _lock:
            span_id = _random_bytes(8).hex()
        if span_id != _NO_SPAN:
            return span_id


def _first_of_new_tails() -> str:
    """Only under the lock. Random digits for many ids at once, because one read costs as much as an id."""
    global _tails  # noqa: PLW0603
    _tails = iter(_TAIL.findall(os.urandom(_RANDOM_BYTES).hex()))
    return next(_tails)


def _random_bytes(count: int) -> bytes:
    """Only under the lock. Random bytes are read for many ids at once, because one read costs as much as an id."""
    global _random, _taken  # noqa: PLW0603
    if _taken + count > len(_random):
        _random, _taken = os.urandom(_RANDOM_BYTES), 0
    _taken += count
    return _random[_taken - count : _taken]


def _forget_random() -> None:
    """A forked process must not hand out what its parent hands out too."""
    global _random, _taken, _tails
    _random, _taken, _tails = b"", 0, iter(())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_random)
