"""Planted secrets: how one could be written, and a search for all of them."""

import base64
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

INPUT_CANARY, OUTPUT_CANARY = "canary-of-an-input-41f7", "canary-of-an-output-93bd"
"""Placed in what callers send and Agents answer: they belong nowhere else."""
_CHUNK = 8


def spellings(canary: str) -> set[str]:
    """Every way to write it that still tells it: as it is, encoded, escaped, backwards, or in pieces backwards."""
    raw = canary.encode()
    digits = raw.hex()
    pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
    found = {canary, canary[::-1], digits, digits.upper(), repr(canary)[1:-1], json.dumps(canary)[1:-1]}
    found |= {
        quote(canary, safe=""),
        quote(canary),
        quote_plus(canary),
        "".join(f"%{pair}" for pair in pairs),
        "".join(f"%{pair.upper()}" for pair in pairs),
    }
    found |= {"".join(f"\\u{ord(character):04x}" for character in canary), "".join(f"\\x{pair}" for pair in pairs)}
    found |= {" ".join(pairs), ":".join(pairs)}
    chunks = [canary[at : at + _CHUNK] for at in range(0, len(canary), _CHUNK)]
    found |= {"".join(reversed(chunks)), *_base64(raw)}
    return found


def _base64(raw: bytes) -> Iterable[str]:
    """At each place a text can have in what is encoded: the characters that depend on nothing around it."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        kept = encoded[-(-before * 4 // 3) : (before + len(raw)) * 4 // 3]
        yield kept
        yield kept.replace("+", "-").replace("/", "_")


def found_in(secrets: Mapping[str, str], text: str) -> list[str]:
    """The names of those that appear in any spelling."""
    return [name for name, secret in secrets.items() if any(spelling in text for spelling in spellings(secret))]


def require_absent(secrets: Mapping[str, str], place: str, text: str) -> None:
    found = found_in(secrets, text)
    assert not found, f"{', '.join(found)} in {place}"
