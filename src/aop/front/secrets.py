"""The Agent's own authentication: secrets of the settings as header values and TLS contexts, shown nowhere."""

import base64
import ssl
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from aop.base.settings import Secret
from aop.contracts.front_settings import FrontAuthentication, FrontTls
from aop.net.authorities import beside_public, certified_context
from aop.net.headers import require_name

MAX_SECRET_BYTES: Final = 8192
CA_FILE: Final = "SSL_CERT_FILE"
"""Names the authorities to trust where the settings name none."""
SecretHeaders = tuple[tuple[bytes, Secret], ...]

_OURS: Final = frozenset({"content-type", "content-length", "host", "accept", "accept-encoding", "traceparent"})


class SecretNotUsable(ValueError):
    """Says which file or member, and why; never what is in it."""


def secret_headers(found: FrontAuthentication | msgspec.UnsetType, folder: Path) -> SecretHeaders:
    if found is msgspec.UNSET:
        return ()
    secret = _secret(found, folder)
    if found.type == "bearer":
        return ((b"authorization", Secret(f"Bearer {secret}")),)
    if found.type == "basic":
        pair = f"{found.username}:{secret}".encode()
        return ((b"authorization", Secret(f"Basic {base64.b64encode(pair).decode()}")),)
    return ((_header_name(str(found.header)), Secret(secret)),)


class Roots(NamedTuple):
    """Authorities that the environment names: in the place of the public ones, or with them. With both, all count."""

    alone: str | None = None
    beside: Path | None = None


def tls_context(found: FrontTls | msgspec.UnsetType, folder: Path, roots: Roots) -> ssl.SSLContext | None:
    """None for the public authorities without a client certificate. The settings come before the environment."""
    if found is msgspec.UNSET:
        return None if roots == Roots() else _trusting(roots)
    context = _trusting(roots if found.ca_file is msgspec.UNSET else Roots(str(folder / found.ca_file)))
    try:
        if found.certificate_file is not msgspec.UNSET and found.key_file is not msgspec.UNSET:
            # A password would be asked for on the terminal; an empty one makes such a key an error instead.
            context.load_cert_chain(folder / found.certificate_file, folder / found.key_file, password=lambda: "")
    except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
        raise SecretNotUsable(f"tls: a file cannot be used ({type(problem).__name__})") from None
    return context


def _trusting(roots: Roots) -> ssl.SSLContext:
    try:
        alone = None if roots.alone is None else Path(roots.alone)
        context = beside_public(roots.beside)
        if context is None:
            return certified_context(alone)
        if alone is not None:
            context.load_verify_locations(alone)
        return context
    except OSError as problem:  # ssl.SSLError is one
        raise SecretNotUsable(f"tls: the CA file {roots.alone} cannot be used ({type(problem).__name__})") from None


def _secret(found: FrontAuthentication, folder: Path) -> str:
    if found.secret is not msgspec.UNSET:
        return found.secret
    path = folder / str(found.secret_file)
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SECRET_BYTES + 1).decode("ascii").strip()
    except OSError as problem:
        raise SecretNotUsable(f"authentication: {path} cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        text = ""
    if not text or len(text) > MAX_SECRET_BYTES or not text.isprintable():
        raise SecretNotUsable(f"authentication: {path} does not hold one line of ASCII")
    return text


def _header_name(name: str) -> bytes:
    encoded = name.encode("ascii")
    try:
        require_name(encoded)
    except ValueError:
        raise SecretNotUsable("authentication: the header name is not a lowercase token") from None
    if name in _OURS or name.startswith("x-platform-"):
        raise SecretNotUsable("authentication: the front writes this header itself")
    return encoded
