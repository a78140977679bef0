"""Which certificate authorities are trusted: the public ones, and private ones of an operator beside them."""

import ssl
from pathlib import Path
from typing import Final

import certifi

CA_FILE: Final = "PLATFORM_CA_FILE"


def certified_context(authorities: Path | None = None) -> ssl.SSLContext:
    """Verifies chain and name against the certifi roots, or against the authorities of a PEM file alone.

    OSError when the file cannot be read or holds no certificate.
    """
    context = ssl.create_default_context(cafile=str(authorities or certifi.where()))
    context.set_alpn_protocols(["http/1.1"])
    return context


def ca_file(text: str) -> Path:
    """The value of the setting. The file is read here, so that a unit does not start with one that it cannot use."""
    path = Path(text)
    try:
        certified_context(path)
    except (OSError, ValueError):  # ssl.SSLError is an OSError; ValueError is a NUL
        raise ValueError("must be a readable file of PEM certificates") from None
    return path


def beside_public(authorities: Path | None) -> ssl.SSLContext | None:
    """None leaves the public ones to the client, which reads them when it first needs them."""
    if authorities is None:
        return None
    context = certified_context(authorities)
    context.load_verify_locations(certifi.where())
    return context
