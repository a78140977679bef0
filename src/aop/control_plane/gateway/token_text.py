"""The text of an access token: a prefix, 37 random base62 characters and a 6-character checksum of them."""

import re
import secrets
import zlib

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 37
_CHECKSUM_LENGTH = 6
_FORM = re.compile(rf"aop_([0-9A-Za-z]{{{_RANDOM_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})", re.ASCII)


def new_token_text() -> str:
    random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return f"aop_{random}{_checksum(random)}"


def is_well_formed(text: str) -> bool:
    """Form and checksum; a mistyped or truncated token is known as such without asking the store."""
    match = _FORM.fullmatch(text)
    return match is not None and _checksum(match[1]) == match[2]


def _checksum(random: str) -> str:
    number, digits = zlib.crc32(random.encode("ascii")), ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, 62)
        digits = _ALPHABET[digit] + digits
    return digits
