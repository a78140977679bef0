"""Why a connection did not come about, in words for people."""

import ssl
from collections.abc import Mapping
from typing import Final

from aop.net.http.message import ConnectFailed

# The verification results of OpenSSL (X509_V_ERR_…).
_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
_OTHER_NAME: Final = frozenset({62, 64})
_CERTIFICATE_PROBLEMS: Final[Mapping[int, str]] = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    **dict.fromkeys(_OTHER_NAME, "the certificate is for another name"),
    **dict.fromkeys(_UNTRUSTED, "the certificate is not trusted; give the CA that issued it"),
}


def is_untrusted(failed: ConnectFailed) -> bool:
    """Whether no authority that the caller trusts vouches for the certificate."""
    cause = failed.__cause__
    return isinstance(cause, ssl.SSLCertVerificationError) and cause.verify_code in _UNTRUSTED


def why_failed(failed: ConnectFailed) -> str:
    cause = failed.__cause__
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
