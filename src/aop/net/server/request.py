"""Reads the bytes of one request and refuses what is not plain HTTP/1.1, or could be read in two ways."""

from collections.abc import Callable
from typing import Final

import httptools

from aop.net.headers import is_host_value, is_origin_form, without_authority, without_underscores
from aop.net.server.limits import ServerLimits

_UNDERSCORE: Final = ord("_")
# What a chunked body may cost beside its content: the smallest legal chunk is six bytes for one.
_FRAMING_SLACK: Final = 64 * 1024
_FRAMING_RATIO: Final = 16


class BadRequest(Exception):
    """The bytes are not a request that this server reads; nothing after them can be trusted."""


def _drop(line: tuple[bytes, bytes]) -> None: ...


class RequestReader:
    """One request; `feed` raises BadRequest, after which nothing may be fed."""

    # Before anything is read. Half of it stays so in most requests.
    method = version = ""
    ambiguity: str | None = None
    """What of a well-formed head could be read in two ways; the application refuses such a request."""
    path = query = _target = b""
    keep_alive = expects_continue = has_head = complete = excess = False
    buffered = _body_size = _received = 0

    def __init__(self, limits: ServerLimits) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self._take_line: Callable[[tuple[bytes, bytes]], None] = self.headers.append
        self.pieces: list[bytes] = []
        self._limits = limits
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)

    def feed(self, data: bytes) -> None:
        if self._parser is None:
            self.excess = True
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if not self.complete:
                raise BadRequest("not well-formed HTTP") from error
            self.excess = True
        if self.complete:
            # The parser holds our bound methods: without this every request would leave a reference cycle.
            self._parser = None
        elif not self.has_head:
            if self._received > self._limits.max_head_bytes:
                raise BadRequest("head too large")
        elif self._received > _FRAMING_SLACK + _FRAMING_RATIO * self._body_size:
            raise BadRequest("chunk framing too large")

    def take(self) -> bytes:
        """Everything buffered, in one piece."""
        pieces = self.pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.pieces = []
        self.buffered = 0
        return body

    def close(self) -> None:
        self._parser = None

    # The parser's callbacks; an exception raised here ends `feed_data`.

    def on_message_begin(self) -> None:
        if self.complete:
            self.excess = True

    def on_url(self, url: bytes) -> None:
        if not self.has_head:
            self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._take_line((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        parser = self._parser
        if self.has_head or parser is None:
            return
        self.version = parser.get_http_version()
        self._require_bounded()
        self._require_unambiguous()
        self.method = parser.get_method().decode("ascii")
        self.path, _, self.query = self._target.partition(b"?")
        self.keep_alive = self.version == "1.1" and parser.should_keep_alive()
        self.has_head = True
        self._take_line = _drop  # after the head these are trailers, which nobody reads

    def on_body(self, body: bytes) -> None:
        if self.complete:
            return
        size = len(body)
        self._body_size += size
        self.buffered += size
        self.pieces.append(body)

    def on_message_complete(self) -> None:
        # A request that asks for an upgrade is reported as complete before its body has been read.
        if self._parser is not None and not self._parser.should_upgrade():
            self.complete = True

    def _require_bounded(self) -> None:
        if len(self.headers) > self._limits.max_headers:
            raise BadRequest("too many headers")
        if self._received > self._limits.max_head_bytes:  # possibly with body bytes that came along
            size = len(self._target) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > self._limits.max_head_bytes:
                raise BadRequest("head too large")

    def _require_unambiguous(self) -> None:
        """What the parser leaves open: version, target form, Host, `_` spellings, transfer codings.

        The parser itself refuses a repeated or malformed Content-Length, one beside Transfer-Encoding,
        chunked given twice, folded lines, bare line ends and control characters.
        """
        named = dict(self.headers)
        if b"transfer-encoding" in named:
            codings = self._values(b"transfer-encoding")
            if self.version != "1.1" or any(coding.lower() != b"chunked" for coding in codings):
                raise BadRequest("a transfer coding other than chunked")
        if b"expect" in named:
            expected = self._values(b"expect")
            self.expects_continue = self.version == "1.1" and any(one.lower() == b"100-continue" for one in expected)
        hosts = self._values(b"host") if len(named) < len(self.headers) or b"host" not in named else [named[b"host"]]
        if not all(map(is_host_value, hosts)):
            raise BadRequest("a Host that is not one")
        if _UNDERSCORE in b"".join(named):
            self.headers, imitates = without_underscores(self.headers)
            if imitates:
                self.ambiguity = "header_name"
        self._require_place(hosts)

    def _values(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]

    def _require_place(self, hosts: list[bytes]) -> None:
        if not (len(hosts) == 1 if self.version == "1.1" else len(hosts) <= 1 and self.version == "1.0"):
            raise BadRequest("not exactly one Host, or another version")
        if is_origin_form(self._target):
            return
        authority, self._target = without_authority(self._target)
        if not is_origin_form(self._target):
            raise BadRequest("a target in neither origin nor absolute form")
        if [authority.lower()] != [host.lower() for host in hosts]:
            self.ambiguity = "host"

    def _ignore_upgrade(self, rest: bytes) -> None:
        # The parser steps aside once a request asks for another protocol. We stay with this one: a new parser
        # gets the framing of the body and reads on.
        framing = [h for h in self.headers if h[0] in {b"content-length", b"transfer-encoding"}]
        head = [b"POST / HTTP/1.1", *map(b": ".join, framing), b"", b""]
        self._parser = httptools.HttpRequestParser(self)
        try:
            self._parser.feed_data(b"\r\n".join(head))
            self._parser.feed_data(rest)
        except httptools.HttpParserError as error:
            if not self.complete:
                raise BadRequest("not well-formed HTTP") from error
            self.excess = True
