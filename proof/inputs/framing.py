"""HTTP framing at the real units: broken and ambiguous requests, each with another one hidden in or behind it."""

import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from proof.area import Findings
from proof.authorization.world import World
from tests.net.not_http import NOT_HTTP
from tests.support.replicas import dispatch_body
from tests.support.settings import CONTROL_PLANE_TO_ROUTER

_CHUNKED = b"transfer-encoding: chunked\r\n"
# Lines behind the usual head of a POST; `%b` is the request that is hidden in it.
_HEADS: Mapping[str, bytes] = {
    "length with a blank before the colon": b"content-length : 0\r\n\r\n%b",
    "length in two spellings": b"content-length: 0\r\nContent-Length: 44\r\n\r\n%b",
    "length with a tab inside": b"content-length: 1\t0\r\n\r\n%b",
    "length behind a vertical tab": b"content-length: \x0b5\r\n\r\n%b",
    "length of a float": b"content-length: 1.0\r\n\r\n%b",
    "length in exponent form": b"content-length: 1e1\r\n\r\n%b",
    "length in full-width digits": b"content-length: \xef\xbc\x95\r\n\r\n%b",
    "coding with a blank before the colon": b"transfer-encoding : chunked\r\n\r\n0\r\n\r\n%b",
    "coding behind a vertical tab": b"transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n%b",
    "coding before a form feed": b"transfer-encoding: chunked\x0c\r\n\r\n0\r\n\r\n%b",
    "coding in quotes": b'transfer-encoding: "chunked"\r\n\r\n0\r\n\r\n%b',
    "coding with a parameter": b"transfer-encoding: chunked;q=1\r\n\r\n0\r\n\r\n%b",
    "coding with an empty element": b"transfer-encoding: ,chunked\r\n\r\n0\r\n\r\n%b",
    "coding folded": b"transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n%b",
    "coding hidden behind a bare CR": b"x: y\rtransfer-encoding: chunked\r\n\r\n0\r\n\r\n%b",
    "coding hidden behind a bare LF": b"x: y\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n%b",
    "coding hidden behind a NUL": b"x: y\x00\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n%b",
    "chunk size with a sign": _CHUNKED + b"\r\n+0\r\n\r\n%b",
    "chunk size in hex form": _CHUNKED + b"\r\n0x0\r\n\r\n%b",
    "chunk size with a blank before it": _CHUNKED + b"\r\n 0\r\n\r\n%b",
    "chunk size with an underscore": _CHUNKED + b"\r\n1_0\r\n\r\n%b",
    "chunk size too large for a number": _CHUNKED + b"\r\n10000000000000000\r\n%b",
    "chunk size of nothing": _CHUNKED + b"\r\n\r\n\r\n%b",
    "chunk ends with LF": _CHUNKED + b"\r\n0\n\n%b",
    "chunk ends with CR": _CHUNKED + b"\r\n0\r\r%b",
    "chunk longer than it says": _CHUNKED + b"\r\n1\r\nab\r\n0\r\n\r\n%b",
    "chunk shorter than it says": _CHUNKED + b"\r\n5\r\nab\r\n0\r\n\r\n%b",
    "chunk extension with a bare LF": _CHUNKED + b"\r\n0;a\nb\r\n\r\n%b",
    "trailer folded": _CHUNKED + b"\r\n0\r\nx: 1\r\n 2\r\n\r\n%b",
    "trailer without a colon": _CHUNKED + b"\r\n0\r\nnonsense\r\n\r\n%b",
    "header without a colon": b"nonsense\r\n\r\n%b",
    "header without a name": b": value\r\n\r\n%b",
    "header name with a blank": b"x y: value\r\n\r\n%b",
    "header name with a NUL": b"x\x00y: value\r\n\r\n%b",
    "header name with a quote": b'"x": value\r\n\r\n%b',
    "header name not ASCII": b"\xc3\xa9: value\r\n\r\n%b",
    "65 headers": b"x-a: 1\r\n" * 65 + b"\r\n%b",
    "a header of 40 KiB": b"x-a: " + b"a" * 40_960 + b"\r\n\r\n%b",
    "a header of 1 MiB": b"x-a: " + b"a" * 1_048_576 + b"\r\n\r\n%b",
    "Host again": b"host: b\r\n\r\n%b",
}
# HTTP, but a name imitates one that decides where the request ends: 400 as any error, and nothing behind it is served.
_AMBIGUOUS: Mapping[str, bytes] = {
    "length by an underscore": b"content_length: 44\r\ncontent-length: 0\r\n\r\n%b",
    "coding and length by an underscore": _CHUNKED + b"content_length: 5\r\n\r\n0\r\n\r\n%b",
    "coding by an underscore": b"transfer_encoding: chunked\r\ncontent-length: 0\r\n\r\n%b",
}
# Sound requests with something behind them: nothing of that may be served on this connection.
_PIPELINED: Mapping[str, bytes] = {
    "no body and another request": b"\r\n%b",
    "an empty body and another request": b"content-length: 0\r\n\r\n%b",
    "a body and another request": b"content-length: 2\r\n\r\n{}%b",
    "a length of many zeros and another request": b"content-length: 00000000000000000000000000000002\r\n\r\n{}%b",
    "chunks and another request": _CHUNKED + b"\r\n2\r\n{}\r\n0\r\n\r\n%b",
    "a trailer with a length and another request": _CHUNKED + b"\r\n2\r\n{}\r\n0\r\ncontent-length: 0\r\n\r\n%b",
    "an upgrade and another request": b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\n{}%b",
    "an expectation and another request": b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}%b",
}


@dataclass(frozen=True)
class Wire:
    """One unit as bytes reach it: where a request goes, who sends it, and the one that must never be served."""

    name: str
    port: int
    path: bytes
    token: bytes
    hidden: bytes

    def head(self) -> bytes:
        lines = b"POST %b HTTP/1.1\r\nhost: a\r\nauthorization: Bearer %b\r\ncontent-type: application/json\r\n"
        return lines % (self.path, self.token)

    @property
    def smuggled(self) -> bytes:
        return self.head() + b"content-length: %d\r\n\r\n" % len(self.hidden) + self.hidden

    def broken(self) -> Iterator[tuple[str, bytes]]:
        for name, text in NOT_HTTP.items():
            line, mark, rest = text.partition(b"\r\n")
            token = b"authorization: Bearer %b\r\n" % self.token if b"host" in rest else b""
            yield name, line.replace(b" / ", b" %b " % self.path) + mark + token + rest + self.smuggled
        yield from self.hiding(_HEADS)

    def hiding(self, heads: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        for name, text in heads.items():
            yield name, self.head() + text.replace(b"%b", self.smuggled)


def wires(world: World) -> Sequence[Wire]:
    platform = world.platform
    dispatch = json.dumps(dispatch_body(platform.card, platform.release)).encode()
    space = json.dumps({"workspaceId": "smuggled"}).encode()
    return (
        Wire("Control Plane", platform.gateway.port, b"/v1/workspaces", platform.token.encode(), space),
        Wire("Router", platform.router.port, b"/internal/v1/invocations", CONTROL_PLANE_TO_ROUTER.encode(), dispatch),
    )


def _served(answer: bytes) -> list[bytes]:
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    return [status for status in statuses if status != b"100"]


async def send_all(wire: Wire, chance: random.Random, rounds: int, found: Findings) -> None:
    """Broken ones whole, cut where the hidden one begins, and in pieces that are cut anew each time.

    Pipelined ones whole alone: what arrives behind an answer is a request of its own.
    """
    for name, data in wire.hiding(_PIPELINED):
        answer = await _exchange(wire.port, [data])
        found.hits[f"pipelined at the {wire.name}"] += 1
        found.require(_served(answer) in ([], [b"400"]), f"{wire.name}, {name}: {answer!r:.200}")
    for number in range(rounds):
        for name, data in wire.hiding(_AMBIGUOUS):
            answer = await _exchange(wire.port, _pieces(data, number, len(wire.smuggled), chance))
            found.hits[f"ambiguous framing at the {wire.name}"] += 1
            found.require(_served(answer) in ([], [b"400"]), f"{wire.name}, {name}: {answer!r:.200}")
        for name, data in wire.broken():
            answer = await _exchange(wire.port, _pieces(data, number, len(wire.smuggled), chance))
            found.hits[f"broken framing at the {wire.name}"] += 1
            found.require(_is_refusal(answer), f"{wire.name}, {name}: {answer!r:.200}")


def _is_refusal(answer: bytes) -> bool:
    """Just closed, or 400 with no body and no trace."""
    closed = b"connection: close\r\n" in answer and answer.endswith(b"content-length: 0\r\n\r\n")
    return answer == b"" or (answer.startswith(b"HTTP/1.1 400 ") and closed and b"x-platform" not in answer)


async def _exchange(port: int, pieces: Sequence[bytes]) -> bytes:
    """Everything said to these bytes until the other side closes, or has nothing more to say."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = b""
    try:
        with suppress(OSError):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                while piece := await reader.read(65536):
                    said += piece
    finally:
        writer.transport.abort()
    return said


def _pieces(data: bytes, number: int, hidden: int, chance: random.Random) -> list[bytes]:
    if number == 0:
        return [data]
    places = [len(data) - hidden] if number == 1 else sorted(chance.randrange(len(data)) for _ in range(4))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
