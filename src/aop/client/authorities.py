"""Which certificate authorities a client trusts, and why a connection to the Gateway did not come about."""

import os
import ssl
from pathlib import Path
from typing import Final

from aop.client.errors import AuthoritiesNotUsable, Unreachable
from aop.contracts.recovery import Recovery, RecoveryOwner
from aop.net.authorities import certified_context
from aop.net.http import ConnectFailed, is_untrusted, why_failed

CA_FILE: Final = "SSL_CERT_FILE"

_TRUST: Final = Recovery(
    RecoveryOwner.CALLER,
    "Nothing was sent. If the Gateway's certificate is of an authority of your own, give the file of that authority: "
    f"--ca FILE of a command, ca= of the Python client, or {CA_FILE}.",
)


def trusted_context(ca: str | os.PathLike[str] | None, *, is_https: bool) -> ssl.SSLContext | None:
    """That of the file which the caller names, or else SSL_CERT_FILE; None for the certifi roots.

    Only https needs authorities. A file that the caller names is read in any case, so that a mistake shows at once.
    """
    if ca is not None:
        return _context_of(Path(ca), "")
    named = os.environ.get(CA_FILE) if is_https else None  # noqa: TID251  the name that every TLS client knows
    return _context_of(Path(named), f" ({CA_FILE})") if named else None


def _context_of(path: Path, source: str) -> ssl.SSLContext:
    try:
        return certified_context(path)
    except ssl.SSLError as problem:
        raise AuthoritiesNotUsable(f"{path}{source}", "holds no PEM certificate") from problem
    except OSError as problem:
        raise AuthoritiesNotUsable(f"{path}{source}", f"cannot be read: {problem.strerror}") from problem


def unreachable(gateway: str, failed: ConnectFailed) -> Unreachable:
    """Often another address is set than intended, so the error names the one that was tried."""
    text = f"no connection to the Gateway at {gateway}: {why_failed(failed)}"
    return Unreachable(text, _TRUST if is_untrusted(failed) else None)
