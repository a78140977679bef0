"""Readers of streams, addresses and headers as the fuzzer drives them, each with what it is compared with."""

import re
from urllib.parse import urlsplit

from aop.net.accept import allows_event_stream, allows_json
from aop.net.origin import Endpoint, InvalidEndpoint, card_endpoint_problem, parse_origin
from aop.net.sse import EventParser, EventTooLarge, FrameReader, FramingBroken
from proof.inputs.mutation import Reader, require
from proof.inputs.oracles import acceptable
from tests.net.sse_standard import by_the_standard

_STREAMS = (
    b'data: {"a":1}\n\ndata: {"b":2}\n\n:\n\ndata: c\n\n',
    b"event: x\nid: 1\nretry: 5\ndata: a\ndata: b\n\n: comment\n\ndata\n\n",
    b"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\rdata:c\n\n",
)
_STREAM_TOKENS = (
    *(b"data: ", b"data:", b"data", b"\n", b"\r", b"\r\n", b"\n\n"),
    *(b":", b":\n\n", b" ", b"\x00", b"\xef\xbb\xbf"),
)
_FRAME = re.compile(rb"(?:data: [^\r\n]*|:)\n\n")
_LIMITS = (1 << 20, 1 << 20, 12, 40)


class Streams(Reader):
    """Server-sent events of others against the standard's own wording, and our own framing against a pattern."""

    name, corpus, tokens = "SSE parser", _STREAMS, _STREAM_TOKENS

    def invent(self) -> tuple[bytes, list[bytes], int]:
        data = self._near.near()
        return data, self._near.pieces(data), self._chance.choice(_LIMITS)

    def attempt(self, sample: tuple[bytes, list[bytes], int]) -> bool:
        data, pieces, limit = sample
        parser, events, whole = EventParser(limit), list[bytes](), True
        try:
            for piece in pieces:
                events.extend(parser.feed(piece))
        except EventTooLarge:
            whole = False
        expected = by_the_standard(data)
        require(events == (expected if whole else expected[: len(events)]), f"{events} is not {expected}")
        require(whole or limit < len(data), "refused as too large")
        self._frames(data, pieces)
        return whole

    def _frames(self, data: bytes, pieces: list[bytes]) -> None:
        reader, frames, whole = FrameReader(1 << 20), list[bytes](), True
        try:
            for piece in pieces:
                frames.extend(reader.feed(piece))
            reader.end()
        except FramingBroken:
            whole = False
        end, expected = 0, list[bytes]()
        while (match := _FRAME.match(data, end)) is not None:
            expected.append(match[0])
            end = match.end()
        require(frames == expected, f"frames {frames} are not {expected}")
        require(whole == (end == len(data)), "the end of the stream")


_ENDPOINTS = (
    b"https://agents.example.com/a2a", b"http://127.0.0.1:8091/", b"http://[::1]:8080/x/y", b"HTTPS://Example.COM.:443",
    b"http://10.0.0.1", b"https://a-b.example:65535/~x;y=1,2/@:", b"http://[2001:DB8::0:1]/", b"http://xn--bcher-kva.example/",
)  # fmt: skip
_ENDPOINT_TOKENS = (
    b"://", b"http:", b"//", b"/", b"/../", b"/./", b"@", b"%2e", b"%", b"?", b"#", b":", b":80", b":443", b":0",
    b":65536", b"[", b"]", b"::", b"::ffff:1.2.3.4", b"%25eth0", b".", b"0x7f", b"127.1", b"2130706433", b"1", b"09",
    b"\\", b" ", b"\t", b"\n", b"\x00", b"\xe2\x91\xa0", b"\xef\xbc\x8e", b"-", b"_", b"a" * 64, b"a." * 130,
    b"/" + b"x" * 2048,
)  # fmt: skip


class Endpoints(Reader):
    """The URL canonicaliser: what it accepts is canonical for good, and the standard library reads the same from it."""

    name, corpus, tokens = "URL canonicaliser", _ENDPOINTS, _ENDPOINT_TOKENS

    def invent(self) -> str:
        return self._near.near().decode("utf-8", "replace")

    def attempt(self, sample: str) -> bool:
        card_endpoint_problem(sample)
        try:
            endpoint = Endpoint.parse(sample)
        except InvalidEndpoint:
            return False
        require(card_endpoint_problem(sample) is None, "a Binding takes what a Card does not")
        require(Endpoint.parse(endpoint.canonical) == endpoint, "not canonical for good")
        require(parse_origin(endpoint.origin).origin == endpoint.origin, "its origin is not one")
        seen = urlsplit(sample)
        port = seen.port or {"http": 80, "https": 443}[seen.scheme]
        require(seen.username is None and not seen.query and not seen.fragment, "more than an endpoint")
        require(
            (seen.scheme, port, seen.path or "/") == (endpoint.scheme, endpoint.port, endpoint.path), "read otherwise"
        )
        host = (seen.hostname or "").removesuffix(".")
        require(":" in endpoint.host or host == endpoint.host, "another host")
        require(endpoint.canonical.isascii() and "%" not in endpoint.canonical, "not plain ASCII")
        return True


_ACCEPTS = (
    b"*/*", b"application/json", b"text/event-stream;q=0.5, application/json", b"text/html, application/json;q=0.1",
    b"application/json;q=0, */*", b'application/json;charset="utf-8"', b"application/*;q=0.001,text/*;q=1.000",
    b'text/html;a="x,application/json;q=0", application/*',
)  # fmt: skip
_ACCEPT_TOKENS = (
    b",", b";", b"/", b"*", b"=", b'"', b"\\", b" ", b"\t", b"q=", b"q=0", b"q=1", b"q=0.", b"q=1.000", b"q=0.1234",
    b"Q=0", b"charset=utf-8", b"charset=latin-1", b";v=1", b"application/json", b"text/event-stream", b"*/*", b"\x00",
    b"\xff", b"(",
)  # fmt: skip


class Accepts(Reader):
    """The Accept header against a reader of RFC 9110 that goes character by character."""

    name, corpus, tokens = "Accept", _ACCEPTS, _ACCEPT_TOKENS

    def invent(self) -> list[bytes]:
        return [self._near.near() for _ in range(self._chance.choice((0, 1, 1, 1, 1, 2, 3)))]

    def attempt(self, sample: list[bytes]) -> bool:
        readings, expected = (allows_json(sample), allows_event_stream(sample)), acceptable(sample)
        require(readings == expected, f"{readings} is not {expected}")
        return any(readings)
