"""What our own server gives an application beside plain ASGI: one member of the scope, and the types that it uses."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, Protocol

from aop.net.asgi import Disconnect, Scope
from aop.net.headers import require_lines, require_name

OWN_SERVER: Final = "aop.server"
"""The member of the scope. The units are served by no other server; an Agent may be, and does without."""

SERVER_FIELDS: Final = frozenset({b"connection", b"transfer-encoding", b"date"})
"""Header fields that the server writes itself."""
_STATUS_LINES: Final = {int(s): f"HTTP/1.1 {int(s)} {s.phrase}".encode("ascii") for s in HTTPStatus}


class FixedHead:
    """Of answers that differ in their body alone: checked and written once. Framing and date are the server's.

    The values of more headers, `varying`, are given with each answer.
    """

    __slots__ = ("_headers", "_varying", "before_date", "status", "varying_lines")

    def __init__(self, status: int, headers: tuple[tuple[bytes, bytes], ...], *varying: bytes) -> None:
        names = {*varying, *(name for name, _ in headers)}
        if status in {204, 304} or names & (SERVER_FIELDS | {b"content-length"}):
            raise ValueError("a head that is not the same for every body")
        for name in names:
            require_name(name)
        lines = [*map(b": ".join, headers)]
        require_lines(lines)
        self.status = status
        self.before_date = b"\r\n".join((status_line(status), *lines, b""))
        self.varying_lines = b"".join([b"\r\n%b: %%b" % name.replace(b"%", b"%%") for name in varying])
        self._headers = headers
        self._varying = varying

    def headers(self, values: tuple[bytes, ...]) -> tuple[tuple[bytes, bytes], ...]:
        """Of one answer."""
        return (*self._headers, *zip(self._varying, values, strict=True))


class OwnServer(Protocol):
    """One request and its response on our own server."""

    @property
    def disconnect(self) -> Disconnect: ...

    @property
    def ambiguity(self) -> str | None:
        """What of a well-formed head could be read in two ways; the application refuses such a request."""

    def whole_body(self) -> bytes | None:
        """Everything at once, when it is all here and nothing of it was received; None leaves it to `receive`."""

    async def answer(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        """A whole response in one step; means the same as its two messages."""

    async def answer_fixed(self, head: FixedHead, body: bytes, *values: bytes) -> None:
        """The same with a head that was checked before, and the values of the headers in it that vary."""

    def comment(self, body: bytes) -> None:
        """A part of a stream that says nothing: left out while anything waits; who is slow to take it is not slow."""

    def write_now(self, body: bytes) -> bool:
        """The next part of an answer that has begun, in one step; False if it has to wait, which `send` does."""


def own_server(scope: Scope) -> OwnServer:
    server: OwnServer = scope[OWN_SERVER]
    return server


def status_line(status: int) -> bytes:
    return _STATUS_LINES.get(status) or b"HTTP/1.1 %d " % status
