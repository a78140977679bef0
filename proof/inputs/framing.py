"""HTTP framing at the real units: broken and ambiguous requests, each with another one hidden in or behind it."""

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from proof.area import Findings
from proof.authorization.world import World
from proof.caller import calling
from tests.net.not_http import NOT_HTTP
from tests.support.replicas import dispatch_body
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.units import RunningUnit

_NEVER_SAID = b"\x00"
_CHUNKED = b"transfer-encoding: chunked\r\n"
# Lines behind the usual head of a POST; `%b` is the request that is hidden in it.
_HEADS: Mapping[str, bytes] = {
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
    "65 headers": b"x-a: 1\r\n" * 65 + b"\r\n%b",
    "a header of 40 KiB": b"x-a: " + b"a" * 40_960 + b"\r\n\r\n%b",
    "a header of 1 MiB": b"x-a: " + b"a" * 1_048_576 + b"\r\n\r\n%b",
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
    unit: RunningUnit
    path: bytes
    token: bytes
    hidden: bytes

    def head(self) -> bytes:
        lines = b"POST %b HTTP/1.1\r\nhost: a\r\nauthorization: Bearer %b\r\ncontent-type: application/json\r\n"
        return lines % (self.path, self.token)

    @property
    def smuggled(self) -> bytes:
        return self.head() + b"content-length: %d\r\n\r\n" % len(self.hidden) + self.hidden

    def broken(self) -> dict[str, bytes]:
        found = self.hiding(_HEADS)
        for name, text in NOT_HTTP.items():
            line, mark, rest = text.partition(b"\r\n")
            token = b"authorization: Bearer %b\r\n" % self.token if b"host" in rest else b""
            found[name] = line.replace(b" / ", b" %b " % self.path) + mark + token + rest + self.smuggled
        return found

    def hiding(self, heads: Mapping[str, bytes]) -> dict[str, bytes]:
        return {name: self.head() + text.replace(b"%b", self.smuggled) for name, text in heads.items()}


def wires(world: World) -> Sequence[Wire]:
    platform = world.platform
    dispatch = json.dumps(dispatch_body(platform.card, platform.release)).encode()
    space, token = b'{"workspaceId": "smuggled"}', CONTROL_PLANE_TO_ROUTER.encode()
    return (
        Wire("Control Plane", platform.gateway, b"/v1/workspaces", platform.token.encode(), space),
        Wire("Router", platform.router, b"/internal/v1/invocations", token, dispatch),
    )


def _is_one_error(answer: bytes) -> bool:
    """Just closed, or 400 for the first request and nothing for what is behind it."""
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    return [status for status in statuses if status != b"100"] in ([], [b"400"])


async def send_all(wire: Wire, chance: random.Random, rounds: int, found: Findings) -> None:
    """Broken ones whole, cut where the hidden one begins, and in pieces that are cut anew each time.

    Pipelined ones whole alone: what arrives behind an answer is a request of its own.
    """
    kinds: list[tuple[str, dict[str, bytes], Callable[[bytes], bool], int]] = [
        ("pipelined", wire.hiding(_PIPELINED), _is_one_error, 1),
        ("ambiguous framing", wire.hiding(_AMBIGUOUS), _is_one_error, rounds),
        ("broken framing", wire.broken(), _is_refusal, rounds),
    ]
    for kind, texts, judge, times in kinds:
        for number, (name, data) in product(range(times), texts.items()):
            answer = await _exchange(wire.unit.port, _pieces(data, number, len(wire.smuggled), chance))
            found.hits[f"{kind} at the {wire.name}"] += 1
            found.require(judge(answer), f"{wire.name}, {name}: {answer!r:.200}")


def _is_refusal(answer: bytes) -> bool:
    """Just closed, or 400 with no body and no trace."""
    closed = b"connection: close\r\n" in answer and answer.endswith(b"content-length: 0\r\n\r\n")
    return answer == b"" or (answer.startswith(b"HTTP/1.1 400 ") and closed and b"x-platform" not in answer)


async def _exchange(port: int, pieces: Sequence[bytes]) -> bytes:
    """Everything said to these bytes until the other side closes, or has nothing more to say."""
    async with calling(port) as caller:
        with suppress(OSError):
            for piece in pieces:
                await caller.send(piece)
                await asyncio.sleep(0.001)
        with suppress(TimeoutError):
            await caller.until(_NEVER_SAID, seconds=1)
        return caller.received


def _pieces(data: bytes, number: int, hidden: int, chance: random.Random) -> list[bytes]:
    if number == 0:
        return [data]
    places = [len(data) - hidden] if number == 1 else sorted(chance.randrange(len(data)) for _ in range(4))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
