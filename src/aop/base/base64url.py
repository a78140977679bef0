"""Unpadded canonical base64url, the one spelling of bytes in tokens and keys."""

import base64
import re
from binascii import b2a_base64

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_BASE64URL = re.compile(r"[-0-9A-Z_a-z]+", re.ASCII)


def to_base64url(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).translate(_URL_SAFE, b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Exactly one text decodes to any given bytes; every other spelling is a ValueError."""
    if _BASE64URL.fullmatch(text) is None or len(text) % 4 == 1:
        raise ValueError("must be unpadded base64url")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_base64url(raw) != text:
        raise ValueError("must be canonical base64url")
    return raw
