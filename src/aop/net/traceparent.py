"""The `traceparent` header of W3C Trace Context: which trace, under which span, and whether it is recorded."""

import re
from dataclasses import dataclass

NAME = b"traceparent"
_FORM = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_NO_TRACE, _NO_SPAN = b"0" * 32, b"0" * 16
_SAMPLED = 0x01


@dataclass(frozen=True, slots=True)
class TraceParent:
    trace_id: str
    span_id: str
    sampled: bool

    def header(self) -> tuple[bytes, bytes]:
        return NAME, f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}".encode("ascii")


def read_traceparent(value: bytes) -> TraceParent | None:
    """None unless the value is well-formed; a version later than ours may say more behind what we know."""
    match = _FORM.fullmatch(value)
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    if version == b"ff" or (version == b"00" and more is not None) or trace_id == _NO_TRACE or span_id == _NO_SPAN:
        return None
    return TraceParent(trace_id.decode(), span_id.decode(), bool(int(flags, 16) & _SAMPLED))
