"""The one byte form of a JSON value (RFC 8785, JCS) with its digest, and the one base64url spelling of bytes."""

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from hashlib import sha256
from json.encoder import encode_basestring
from math import isfinite

LARGEST_SAFE_INTEGER = 2**53 - 1


class NotCanonical(ValueError):
    """The value has no canonical form: a number that is no finite double, a lone surrogate, no JSON at all."""


def canonical(value: object) -> bytes:
    """Numbers are IEEE doubles written as ECMAScript does; an int beyond plus or minus 2^53-1 is refused."""
    parts: list[str] = []
    _write(value, parts.append)
    try:
        return "".join(parts).encode("utf-8")
    except UnicodeEncodeError:
        raise NotCanonical("a string holds a lone surrogate") from None


def digest(raw: bytes) -> str:
    """SHA-256 as 64 lowercase hex digits."""
    return sha256(raw).hexdigest()


def number_text(number: float) -> str:
    """The shortest decimal that reads back as this double, laid out as ECMAScript's Number::toString."""
    if not isfinite(number):
        raise NotCanonical("a number is not finite")
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(number).partition("e")
    sign = "-" if number < 0 else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    significant = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole + fraction) - len(fraction) - (len(whole + fraction) - len(significant)) + int(exponent or 0)
    return sign + _layout(significant.rstrip("0"), point)


def _layout(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def _write(value: object, write: Callable[[str], None]) -> None:
    if isinstance(value, str):
        write(encode_basestring(value))
    elif isinstance(value, dict):
        _write_object(value, write)
    elif isinstance(value, list | tuple):
        _write_array(value, write)
    else:
        write(_scalar(value))


def _scalar(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        if -LARGEST_SAFE_INTEGER <= value <= LARGEST_SAFE_INTEGER:
            return int.__repr__(value)
        raise NotCanonical("an integer is beyond 2^53-1")
    if isinstance(value, float):
        return number_text(value)
    raise NotCanonical(f"{type(value).__name__} is not a JSON type")


def _write_array(items: list[object] | tuple[object, ...], write: Callable[[str], None]) -> None:
    separator = "["
    for item in items:
        write(separator)
        _write(item, write)
        separator = ","
    write("]" if items else "[]")


def _write_object(members: dict[str, object], write: Callable[[str], None]) -> None:
    separator = "{"
    for name in _sorted_names(members):
        write(separator + encode_basestring(name) + ":")
        _write(members[name], write)
        separator = ","
    write("}" if members else "{}")


def _sorted_names(members: dict[str, object]) -> list[str]:
    try:
        if "".join(members).isascii():
            return sorted(members)
    except TypeError:
        raise NotCanonical("a member name is not a string") from None
    return sorted(members, key=_utf16)


def _utf16(name: str) -> bytes:
    # Big-endian bytes compare as code units do; a lone surrogate is refused later, for every string alike.
    return name.encode("utf-16-be", "surrogatepass")


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_STANDARD = bytes.maketrans(b"-_", b"+/")


def base64url(raw: bytes) -> bytes:
    return b2a_base64(raw, newline=False).translate(_URL_SAFE).rstrip(b"=")


def to_base64url(raw: bytes) -> str:
    return base64url(raw).decode("ascii")


def from_base64url(text: str) -> bytes:
    """Exactly one text decodes to any given bytes; every other spelling is a ValueError."""
    # The decoder skips what it does not know; written back, only the one right spelling is the same.
    raw = a2b_base64(text.encode("ascii").translate(_STANDARD) + b"==")
    if not raw or to_base64url(raw) != text:
        raise ValueError("must be canonical unpadded base64url")
    return raw
