"""Which certificate authorities a client trusts, and why a connection to the Gateway did not come about."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aop.client.errors import AuthoritiesNotUsable, Unreachable
from aop.contracts.recovery import Recovery, RecoveryOwner
from aop.net.http import ConnectFailed, certified_context

CA_FILE: Final = "SSL_CERT_FILE"

_TRUST: Final = Recovery(
    RecoveryOwner.CALLER,
    "Nothing was sent. If the Gateway's certificate is of an authority of your own, give the file of that authority: "
    f"--ca FILE of a command, ca= of the Python client, or {CA_FILE}.",
)
# The verification results of OpenSSL (X509_V_ERR_…).
_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
_OTHER_NAME: Final = frozenset({62, 64})
_CERTIFICATE_PROBLEMS: Final[Mapping[int, str]] = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    **dict.fromkeys(_OTHER_NAME, "the certificate is for another name"),
    **dict.fromkeys(_UNTRUSTED, "the certificate is not trusted; give the CA that issued it"),
}


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
    """Whoever meets this error often set another address than intended, so it names the one that was tried."""
    cause = failed.__cause__
    code = cause.verify_code if isinstance(cause, ssl.SSLCertVerificationError) else None
    text = f"no connection to the Gateway at {gateway}: {_why(failed, cause)}"
    return Unreachable(text, _TRUST if code in _UNTRUSTED else None)


def _why(failed: ConnectFailed, cause: BaseException | None) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: {_CERTIFICATE_PROBLEMS.get(cause.verify_code, cause.verify_message)}"
    if isinstance(cause, ssl.SSLError):
        if cause.reason in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_EOF_WHILE_READING"}:
            return "tls: what answers there does not speak TLS; is it http:// instead of https://?"
        return f"tls: {(cause.reason or type(cause).__name__).replace('_', ' ').lower()}"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection was refused; nothing listens there"
    if isinstance(cause, TimeoutError):
        return f"{failed.phase}: no answer in time"
    return str(failed)
