"""What goes into and comes out of one exchange: where a request goes, its bytes, the answer, and what can go wrong."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import msgspec

from aop.net.headers import Headers, is_host_value, require_lines, require_name
from aop.net.origin import DEFAULT_PORTS, Endpoint

_METHODS = {verb: verb.encode() for verb in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")}
_METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# These frame the message; the client alone writes them.
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"connection", b"expect", b"upgrade", b"te"})


ConnectPhase = Literal["connect", "tls"]


class HttpError(Exception):
    """The exchange gave no usable answer; `headers` are there when it broke off behind the head of one."""

    headers: tuple[tuple[bytes, bytes], ...] | None = None


class ConnectFailed(HttpError):
    """No connection came about; no byte of the request was sent."""

    def __init__(self, phase: ConnectPhase, reason: str) -> None:
        super().__init__(f"{phase}: {reason}")
        self.phase = phase


class TransferBroken(HttpError):
    """The peer closed, reset or did not speak HTTP after the request had begun to be sent."""


class AnswerTooLarge(HttpError):
    """The head or the body of the answer passed its limit; `status` is None when the head did."""

    def __init__(self, part: str, status: int | None = None) -> None:
        super().__init__(part)
        self.status = status


class HttpTimeout(HttpError, TimeoutError):
    """The caller's deadline came before the end of the answer."""


class RepeatedHeader(HttpError):
    """A header that must have one value came more than once."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect: `address` is the literal or the path of a unix socket that is dialed, `host` is what Host and
    TLS name."""

    scheme: str
    host: str
    port: int
    address: str
    authority: bytes = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.scheme not in DEFAULT_PORTS:
            raise ValueError("the scheme is http or https")
        authority = Endpoint(self.scheme, self.host, self.port, "/").authority.encode("ascii")
        if not is_host_value(authority):
            raise ValueError("the host cannot stand in a Host header")
        object.__setattr__(self, "authority", authority)
        object.__setattr__(self, "_hash", hash((self.scheme, self.host, self.port, self.address)))

    def __hash__(self) -> int:  # used twice in every exchange, so it is computed once
        return self._hash


class HeaderLookup:
    """Reading of headers that may be repeated; names are lowercase."""

    __slots__ = ()

    headers: tuple[tuple[bytes, bytes], ...]

    def headers_named(self, name: bytes) -> list[bytes]:
        return [value for field, value in self.headers if field == name]

    def header(self, name: bytes) -> bytes | None:
        """The one value, None when absent; RepeatedHeader when it came more than once."""
        values = self.headers_named(name)
        if len(values) > 1:
            raise RepeatedHeader(name.decode("ascii", "replace"))
        return values[0] if values else None


class Answer(HeaderLookup, msgspec.Struct, frozen=True):
    """A complete answer: every byte that its framing announced is here."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


# Names that have passed the check; programs use few, but nothing stops one from making them up.
_sendable: set[bytes] = set()
_MAX_SENDABLE = 1024


def request_bytes(target: Target, method: str, path: str, headers: Headers, body: bytes) -> bytes:
    """The whole request on the wire; ValueError for anything that could be read as a second line."""
    lines = [_start(method, path, target.authority), *_lines(headers)]
    if body or method in _METHODS_WITH_BODY:
        lines.append(b"content-length: %d" % len(body))
    lines += (b"", body)
    return b"\r\n".join(lines)


def request_head(target: Target, method: str, path: str, headers: Headers) -> bytes:
    """The lines up to the last of these headers; a program that sends the same ones often makes it once."""
    return b"\r\n".join((_start(method, path, target.authority), *_lines(headers)))


def completed(head: bytes, headers: Headers, body: bytes) -> bytes:
    """A whole request: a head, more lines behind it, and the body."""
    return b"\r\n".join((head, *_lines(headers), b"content-length: %d" % len(body), b"", body))


def with_headers(head: bytes, headers: Headers) -> bytes:
    """A head, and more lines behind it."""
    return b"\r\n".join((head, *_lines(headers)))


# A program sends to few places. Paths with ids in them push each other out.
@lru_cache(maxsize=256)
def _start(method: str, path: str, authority: bytes) -> bytes:
    """Request line and Host."""
    if method not in _METHODS or path[:1] != "/" or "#" in path or " " in path:
        raise ValueError("the request line is not a known method and an origin-form target")
    lines = [b"%b %b HTTP/1.1" % (_METHODS[method], path.encode("ascii")), b"host: " + authority]
    require_lines(lines)
    return b"\r\n".join(lines)


def _lines(headers: Headers) -> list[bytes]:
    for name, _ in headers:
        if name not in _sendable:
            _require_sendable(name)
    lines = [*map(b": ".join, headers)]
    require_lines(lines)
    return lines


def with_body(head: bytes, body: bytes) -> bytes:
    return b"%b\r\ncontent-length: %d\r\n\r\n%b" % (head, len(body), body)


def _require_sendable(name: bytes) -> None:
    if name in _FRAMING:
        raise ValueError("a header that frames the message is the client's own")
    require_name(name)
    if len(_sendable) < _MAX_SENDABLE:
        _sendable.add(name)
