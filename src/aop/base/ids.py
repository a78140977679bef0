"""Identifiers: time-ordered for what the platform makes, random where order would tell something."""

import os
import re
import threading
import time

SAFE_IDENTIFIER = re.compile(r"[0-9A-Za-z][-.0-9:A-Z_a-z]{0,127}", re.ASCII)
PREFIXED_ID = re.compile(r"([a-z]+)_([0-9a-f]{32})", re.ASCII)
TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}", re.ASCII)

_COUNTER_BITS = 12
_lock = threading.Lock()
_last = 0


def is_safe_identifier(text: str) -> bool:
    return SAFE_IDENTIFIER.fullmatch(text) is not None


def is_trace_id(text: str) -> bool:
    return TRACE_ID.fullmatch(text) is not None


def new_id(prefix: str) -> str:
    """`prefix_` and the 32 lowercase hex digits of a UUIDv7, strictly increasing within this process."""
    return f"{prefix}_{_uuid7():032x}"


def new_hex_id() -> str:
    """The 32 lowercase hex digits alone, for what stores ids without their prefix."""
    return f"{_uuid7():032x}"


def new_opening_id() -> str:
    """Hex digits whose next two numbers are free as well: the ids of facts that are recorded as one."""
    return f"{_uuid7() & ~0b11:032x}"


def hex_part(identifier: str, prefix: str) -> str | None:
    """What stands behind the prefix when it is such an id, else None."""
    match = PREFIXED_ID.fullmatch(identifier)
    return match[2] if match is not None and match[1] == prefix else None


def new_random_id(prefix: str) -> str:
    return f"{prefix}_{os.urandom(16).hex()}"


def new_trace_id() -> str:
    while True:
        trace_id = os.urandom(16).hex()
        if is_trace_id(trace_id):
            return trace_id


def _uuid7() -> int:
    # Milliseconds and a 12-bit counter form one rising number: a stalled or stepped-back
    # clock borrows from the future instead of repeating or going back.
    global _last  # noqa: PLW0603
    with _lock:
        _last = max(_last + 1, (time.time_ns() // 1_000_000) << _COUNTER_BITS)
        stamp = _last
    millis, counter = stamp >> _COUNTER_BITS, stamp & ((1 << _COUNTER_BITS) - 1)
    tail = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    return millis << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail
