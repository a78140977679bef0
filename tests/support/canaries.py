"""Planted secrets: how one could be written, and a search for all of them."""

import base64
from collections.abc import Mapping


def spellings(canary: str) -> set[str]:
    raw = canary.encode()
    return {canary, raw.hex(), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("=")}


def require_absent(secrets: Mapping[str, str], place: str, text: str) -> None:
    for name, secret in secrets.items():
        found = [spelling for spelling in spellings(secret) if spelling in text]
        assert not found, f"{name} in {place}"
