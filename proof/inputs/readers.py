"""Readers of streams, addresses and headers as the fuzzer drives them, each with what it is compared with."""

from proof.inputs.mutation import Reader
from tests.net.readings import reads_accept, reads_endpoint, reads_events, reads_frames

_STREAMS = (
    b'data: {"a":1}\n\ndata: {"b":2}\n\n:\n\ndata: c\n\n',
    b"event: x\nid: 1\nretry: 5\ndata: a\ndata: b\n\n: comment\n\ndata\n\n",
    b"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\rdata:c\n\n",
)
_STREAM_TOKENS = (
    *(b"data: ", b"data:", b"data", b"\n", b"\r", b"\r\n", b"\n\n"),
    *(b":", b":\n\n", b" ", b"\x00", b"\xef\xbb\xbf"),
)
_LIMITS = (1 << 20, 1 << 20, 12, 40)


class Streams(Reader):
    """Server-sent events of others against the standard's own wording, and our own framing against a pattern."""

    name, corpus, tokens = "SSE parser", _STREAMS, _STREAM_TOKENS

    def invent(self) -> tuple[list[bytes], int]:
        return self._near.pieces(self._near.near()), self._chance.choice(_LIMITS)

    def attempt(self, sample: tuple[list[bytes], int]) -> bool:
        reads_frames(sample[0])
        return reads_events(*sample)


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
        return reads_endpoint(sample)


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
        return reads_accept(sample)
