"""Reads the bytes of answers, one at a time: exact framing, bounded head and body, no input or output of its own."""

from typing import Final

import httptools

from aop.net.http.message import AnswerTooLarge, HttpError, TransferBroken

MAX_HEAD_BYTES: Final = 32 * 1024
MAX_HEADERS: Final = 100
MAX_INTERIM_ANSWERS: Final = 8

# What a chunked body may cost beside its content: the smallest legal chunk is six bytes for one.
_FRAMING_SLACK: Final = 64 * 1024
_FRAMING_RATIO: Final = 16


class AnswerReader:
    """Belongs to one connection; `feed` and `end` raise an HttpError, after which it may not be used again."""

    __slots__ = (
        "_arrived",
        "_body_size",
        "_fields",
        "_interim",
        "_max_body",
        "_parser",
        "_received",
        "_refusal",
        "_until_close",
        "_without_body",
        "buffered",
        "complete",
        "excess",
        "has_head",
        "headers",
        "keep_alive",
        "on_body",
        "pieces",
        "status",
    )

    def __init__(self) -> None:
        # A callback of the parser: a stream has one piece for each of its events, and all of them are read at once.
        self._arrived: list[bytes] = []
        self.on_body = self._arrived.append
        self._parser = httptools.HttpResponseParser(self)
        self._without_body = False
        self.pieces: list[bytes] = []
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        self._fields: list[tuple[bytes, bytes]] = []
        self._refusal: HttpError | None = None
        self.begin("", 0)

    def begin(self, method: str, max_body: int) -> None:
        """Before each request: what is fed from here on is the answer to it."""
        if self._without_body:
            # The parser does not know that an answer to HEAD has no body, and still waits for one.
            self._parser = httptools.HttpResponseParser(self)
        self._without_body = method == "HEAD"
        self._max_body = max_body
        self.status = self.buffered = self._body_size = self._received = self._interim = 0
        self.has_head = self.complete = self.keep_alive = self.excess = self._until_close = False
        self.pieces = []
        self.headers = ()
        self._fields = []

    def feed(self, data: bytes | memoryview) -> None:
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._keep_arrived()
            if not self.complete:
                raise self._refusal or TransferBroken("the answer is not well-formed HTTP") from error
            self.excess = True
        else:
            if self._arrived:
                self._keep_arrived()
        if self.complete:
            return
        if not self.has_head:
            if self._received > MAX_HEAD_BYTES:
                raise AnswerTooLarge("head")
        elif self._received > _FRAMING_SLACK + _FRAMING_RATIO * self._body_size:
            raise AnswerTooLarge("chunk framing", self.status)

    def end(self) -> None:
        """The peer ended its side: an answer framed by that end is complete, any other is broken."""
        if self._until_close:
            self.complete = True
        elif not self.complete:
            raise TransferBroken("the peer closed before the end of the answer")

    def take(self) -> bytes:
        """Everything buffered, in one piece."""
        pieces = self.pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.pieces = []
        self.buffered = 0
        return body

    def close(self) -> None:
        """Lets go of the parser, which holds our bound methods, so that no reference cycle stays behind."""
        del self._parser

    # The parser's callbacks. An exception raised here ends `feed_data`; the reason travels in `_refusal`.

    def on_message_begin(self) -> None:
        if self.complete:
            self._keep_arrived()
            self.excess = True

    def on_header(self, name: bytes, value: bytes) -> None:
        # After the head these are trailers, which nobody reads.
        self._fields.append((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        parser = self._parser
        status = parser.get_status_code()
        if status < 200:
            self._skip_interim(status)
        elif not self.complete:
            self.status = status
            self._settle(status, parser.get_http_version())
            self.has_head = True
            if self._without_body:
                self.complete = True
                self.keep_alive = parser.should_keep_alive()

    def on_message_complete(self) -> None:
        if self.has_head and not self.complete:
            self.complete = True
            self.keep_alive = self._parser.should_keep_alive()

    def _keep_arrived(self) -> None:
        """Takes over what the parser has read of the body. Behind the end of an answer nothing belongs to it."""
        arrived = self._arrived
        if not arrived or self.excess or self._without_body:
            self.excess = self.excess or bool(arrived)
            arrived.clear()
            return
        size = sum(map(len, arrived))
        self._body_size += size
        excess = self._body_size - self._max_body
        if excess > 0:
            # What lies within the limit is handed over first, however the bytes were cut on their way.
            if excess < size:
                self.pieces.append(b"".join(arrived)[: size - excess])
            arrived.clear()
            self.complete = False
            self._refuse(AnswerTooLarge("body", self.status))
        self.buffered += size
        self.pieces += arrived
        arrived.clear()

    def _skip_interim(self, status: int) -> None:
        self._interim += 1
        if status == 101 or status < 100 or self._interim > MAX_INTERIM_ANSWERS:
            self._refuse(TransferBroken("an interim answer that nobody asked for"))
        self._fields.clear()

    def _settle(self, status: int, version: str) -> None:
        """Bounds the head, then reads from it how the body is framed."""
        fields = self._fields
        if len(fields) > MAX_HEADERS or (self._received > MAX_HEAD_BYTES and _size(fields) > MAX_HEAD_BYTES):
            self._refuse(AnswerTooLarge("head"))
        if status > 599 or version not in {"1.1", "1.0"}:
            self._refuse(TransferBroken("not an HTTP/1 answer"))
        self.headers = tuple(fields)
        named = dict(fields)
        length = named.get(b"content-length")  # the parser refuses a second one
        coding = named.get(b"transfer-encoding")
        if coding is not None and (
            version == "1.0" or [v.lower() for n, v in fields if n == b"transfer-encoding"] != [b"chunked"]
        ):
            self._refuse(TransferBroken("a transfer coding other than chunked"))
        bodiless = self._without_body or status in {204, 304}
        if length is not None and not bodiless and int(length) > self._max_body:
            self._refuse(AnswerTooLarge("declared body", status))
        self._until_close = length is None and coding is None and not bodiless

    def _refuse(self, refusal: HttpError) -> None:
        self._refusal = refusal
        raise refusal


def _size(fields: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in fields)
