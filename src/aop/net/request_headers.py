"""The request headers that mean something to us: the one list, and which spelling of a name could be taken for one."""

from typing import Final

# Of HTTP itself, of the calls, of browsers, of tracing. Every name that a unit reads of a request stands here.
_READ: Final = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"access-control-request-method",
        b"access-control-request-headers",
        b"authorization",
        b"connection",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"if-none-match",
        b"keep-alive",
        b"origin",
        b"te",
        b"trailer",
        b"traceparent",
        b"tracestate",
        b"transfer-encoding",
        b"upgrade",
    }
)
_PREFIX: Final = b"x-platform-"


def is_ours(name: bytes) -> bool:
    return name in _READ or name.startswith(_PREFIX)


def imitates_ours(name: bytes) -> bool:
    """Whether somebody who reads `_` as `-` would take the name for one of ours."""
    return is_ours(name.replace(b"_", b"-"))
