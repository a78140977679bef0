"""HTTP headers: which bytes may stand in them, which names the platform reads, and `traceparent`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

Headers = Sequence[tuple[bytes, bytes]]

_DIGITS_AND_LOWER = b"0123456789abcdefghijklmnopqrstuvwxyz"
VISIBLE = bytes(range(0x21, 0x7F))
_NAME = b"!#$%&'*+-.^_`|~" + _DIGITS_AND_LOWER
_VALUE = b"\t " + VISIBLE + bytes(range(0x80, 0x100))
_ORIGIN_FORM = VISIBLE.replace(b"#", b"")
_HOST = b"-._~!$&'()*+,;=:[]%ABCDEFGHIJKLMNOPQRSTUVWXYZ" + _DIGITS_AND_LOWER


class HeaderMap:
    """The lines of one head, to be asked by name."""

    __slots__ = ("by_name", "lines", "repeats")

    def __init__(self, lines: Headers) -> None:
        self.lines = lines
        self.by_name = dict(lines)
        """The last of each."""
        self.repeats = len(self.by_name) < len(lines)
        """Whether any name came twice."""

    def values(self, name: bytes) -> Sequence[bytes]:
        """Every value sent under this lowercase name, in order."""
        value = self.by_name.get(name)
        if value is None:
            return ()
        if not self.repeats:
            return (value,)
        return [value for key, value in self.lines if key == name]

    def single(self, name: bytes) -> bytes | None:
        """The value of a header that was sent exactly once."""
        if not self.repeats:
            return self.by_name.get(name)
        values = self.values(name)
        return values[0] if len(values) == 1 else None


def is_origin_form(target: bytes) -> bool:
    return target[:1] == b"/" and not target.translate(None, _ORIGIN_FORM)


def without_authority(target: bytes) -> tuple[bytes, bytes]:
    """The authority of a target in absolute form, and the same target in origin form; both empty for any other."""
    scheme, separator, rest = target.partition(b"://")
    if not separator or scheme.lower() not in {b"http", b"https"}:
        return b"", b""
    end = min((at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0), default=len(rest))
    authority, target = rest[:end], rest[end:]
    return authority, target if target[:1] == b"/" else b"/" + target


def is_host_value(value: bytes) -> bool:
    return not value.translate(None, _HOST)


@lru_cache(maxsize=1024)
def require_name(name: bytes) -> None:
    """A header name is a non-empty lowercase token, else ValueError."""
    if not name or name.translate(None, _NAME):
        raise ValueError("a header name is not a lowercase token")


def require_lines(lines: Sequence[bytes]) -> None:
    """No line of a head holds a control character, a line end above all, else ValueError."""
    if b"".join(lines).translate(None, _VALUE):
        raise ValueError("a line of the head holds a control character")


# Of HTTP itself, of the calls, of browsers, of tracing. Every name that a unit reads of a request stands here.
_READ: Final = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"access-control-request-method",
        b"access-control-request-headers",
        b"authorization",
        b"connection",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"if-none-match",
        b"keep-alive",
        b"origin",
        b"te",
        b"trailer",
        b"traceparent",
        b"tracestate",
        b"transfer-encoding",
        b"upgrade",
    }
)
_PREFIX: Final = b"x-platform-"
_UNDERSCORE: Final = ord("_")


def is_ours(name: bytes) -> bool:
    return name in _READ or name.startswith(_PREFIX)


def imitates_ours(name: bytes) -> bool:
    """Whether somebody who reads `_` as `-` would take the name for one of ours."""
    return is_ours(name.replace(b"_", b"-"))


def without_underscores(headers: list[tuple[bytes, bytes]]) -> tuple[list[tuple[bytes, bytes]], bool]:
    """The headers whose names have no `_`, and whether one of the others imitates ours.

    Servers and proxies disagree whether `_` in a name is `-`, so no such header is ever passed on.
    """
    imitates = any(_UNDERSCORE in name and imitates_ours(name) for name, _ in headers)
    return [header for header in headers if _UNDERSCORE not in header[0]], imitates


TRACEPARENT = b"traceparent"
_TRACEPARENT_FORM = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_NO_TRACE, _NO_SPAN = b"0" * 32, b"0" * 16
_SAMPLED = 0x01


@dataclass(frozen=True, slots=True)
class TraceParent:
    trace_id: str
    span_id: str
    sampled: bool

    def header(self) -> tuple[bytes, bytes]:
        return TRACEPARENT, f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}".encode("ascii")


def read_traceparent(value: bytes) -> TraceParent | None:
    """None unless the value is well-formed; a version later than ours may say more behind what we know."""
    match = _TRACEPARENT_FORM.fullmatch(value)
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    if version == b"ff" or (version == b"00" and more is not None) or trace_id == _NO_TRACE or span_id == _NO_SPAN:
        return None
    return TraceParent(trace_id.decode(), span_id.decode(), bool(int(flags, 16) & _SAMPLED))
