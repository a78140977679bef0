"""HTTP field syntax: which bytes may stand in a header or a request target; refuses injection."""

from collections.abc import Sequence
from functools import lru_cache

Headers = Sequence[tuple[bytes, bytes]]

_DIGITS_AND_LOWER = b"0123456789abcdefghijklmnopqrstuvwxyz"
_VISIBLE = bytes(range(0x21, 0x7F))
_NAME = b"!#$%&'*+-.^_`|~" + _DIGITS_AND_LOWER
_VALUE = b"\t " + _VISIBLE + bytes(range(0x80, 0x100))
_ORIGIN_FORM = _VISIBLE.replace(b"#", b"")
_HOST = b"-._~!$&'()*+,;=:[]%ABCDEFGHIJKLMNOPQRSTUVWXYZ" + _DIGITS_AND_LOWER


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


def require_lines(lines: list[bytes]) -> None:
    """No line of a head holds a control character, a line end above all, else ValueError."""
    if b"".join(lines).translate(None, _VALUE):
        raise ValueError("a line of the head holds a control character")
