"""Wall-clock time: always aware, always UTC, one text form."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

_TWO = tuple(f"{number:02}" for number in range(60))
_second = 0
_second_text = ""
_MAX_SECONDS = 256
_seconds: dict[tuple[int, ...], str] = {}
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def utc_now() -> datetime:
    return datetime.now(UTC)


def now_text() -> str:
    """The present in the one form written on the wire."""
    global _second, _second_text
    micros = time.time_ns() // 1000
    second = micros // 1_000_000
    if second != _second:
        _second, _second_text = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
    return f"{_second_text}.{micros % 1_000_000:06d}Z"


def to_text(moment: datetime) -> str:
    """The one form written on the wire: UTC, six fraction digits, `Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    # Most moments are of a few seconds. `isoformat` takes three times as long, most of it for the offset.
    second = moment.second, moment.minute, moment.hour, moment.day, moment.month, moment.year
    start = _seconds.get(second)
    if start is None:
        if len(_seconds) >= _MAX_SECONDS:
            _seconds.clear()
        start = _seconds[second] = (
            f"{moment.year:04}-{_TWO[moment.month]}-{_TWO[moment.day]}T"
            f"{_TWO[moment.hour]}:{_TWO[moment.minute]}:{_TWO[moment.second]}."
        )
    return f"{start}{moment.microsecond:06}Z"


def from_text(text: str) -> datetime:
    """Reads RFC 3339 with an offset and at most six fraction digits; anything else is a ValueError."""
    if _RFC3339.fullmatch(text) is None:
        raise ValueError("not an RFC 3339 time with offset")
    return datetime.fromisoformat(text.upper()).astimezone(UTC)
