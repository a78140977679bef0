"""The ways in which a hostile Agent answers, in both modes, and the exact outcome that each of them must have."""

import gzip
import json
from dataclasses import dataclass
from functools import cache

from tests.support.agent import (
    a_message,
    a_task,
    data,
    rpc_error,
    saying,
)
from tests.support.canaries import OUTPUT_CANARY
from tests.support.peers import JSON, Behaviour, Received, hold, reset, sending, unending
from tests.support.streaming_agent import (
    HEAD,
    artifact,
    endless,
    event_of,
    message,
    piece,
    send_body,
    status,
    streamed,
    task,
)
from tests.support.waiting import generous

UNAVAILABLE, TOO_LARGE, PROTOCOL = "AGENT_UNAVAILABLE", "AGENT_RESPONSE_TOO_LARGE", "A2A_PROTOCOL_ERROR"
TIMEOUT, EXECUTION = "TIMEOUT", "AGENT_EXECUTION_FAILED"
FORGED = "forged-behind-the-end"
"""In whatever is sent behind the end of an answer: nobody may get it."""
_EVENTS = b"content-type: text/event-stream"
_JSON_HEAD = b"HTTP/1.1 200 Said\r\ncontent-type: application/json\r\n"
_PIECE = 32 * 1024
_BOMB_BYTES = 64 * 1024 * 1024
_DEPTH = 100_000
_TRICKLE_SECONDS = 0.05
_WORKING = a_task("working")


@dataclass(frozen=True)
class Hostile:
    """How the Agent answers each mode (the same way, when there is one), the code that must come of it in both (None:
    success), and the cancels it must get in each."""

    name: str
    code: str | None
    json: Behaviour
    stream: Behaviour | None = None
    cancels: tuple[int, int] = (0, 0)
    heavy: bool = False
    """It is after the Router's memory."""
    hasty: bool = False
    """It is after the Router's time, so that its Card gives it little."""
    absent: bool = False
    """Nothing listens where it should be."""
    probed: Behaviour = _WORKING
    """What it answers to tasks/get."""


def hasty_ms() -> int:
    """The time limit of a Card that gives little, and still enough to name a Task on a machine as busy as this one."""
    return min(round(1000 * generous(0.5)), 20_000)


def hostile_behaviours(elsewhere: str) -> list[Hostile]:
    """`elsewhere` is the URL to which one of them redirects."""
    return [*_at_the_connection(elsewhere), *_in_time(), *_in_size(), *_in_content()]


def _at_the_connection(elsewhere: str) -> list[Hostile]:
    redirect = saying(b"", 307, f"location: {elsewhere}".encode())
    cut = sending(_JSON_HEAD + b'content-length: 99\r\n\r\n{"jsonrpc":')
    twice = (status("completed"), piece({FORGED: 1}, 0, 1), status("failed"))
    return [
        Hostile("nothing listens", UNAVAILABLE, hold, absent=True),
        Hostile("resets the connection", UNAVAILABLE, reset),
        Hostile("is not HTTP", UNAVAILABLE, sending(b"220 mail.example ready\r\n\r\n")),
        Hostile("redirects", UNAVAILABLE, redirect),
        Hostile("breaks off in the middle", UNAVAILABLE, cut, streamed(task(), piece({}, 0, 2), end="cut")),
        Hostile("goes on behind its answer", None, _answering_twice, streamed(task(), piece({}, 0, 1), *twice)),
    ]


def _in_time() -> list[Hostile]:
    slow_head = unending(_JSON_HEAD + b"x-slow: ", b"z", _TRICKLE_SECONDS)
    slow_event = unending(HEAD + b"fffff\r\ndata: ", b"z", _TRICKLE_SECONDS)
    return [
        Hostile("never answers", TIMEOUT, hold, hasty=True),
        Hostile("trickles", TIMEOUT, slow_head, slow_event, hasty=True),
        Hostile("works for ever", TIMEOUT, _WORKING, streamed(task(), end="open"), (1, 1), hasty=True),
    ]


def _in_size() -> list[Hostile]:
    vast = b"content-length: 1000000000000\r\n\r\n"
    head = unending(_JSON_HEAD, b"x-more: " + b"y" * 100 + b"\r\n")
    announced = unending(_JSON_HEAD + vast, b" " * _PIECE)
    comments = unending(b"HTTP/1.1 200 Said\r\n" + _EVENTS + b"\r\n" + vast, b":\n" * (_PIECE // 2))
    blanks, pieces = _unending_chunks(_JSON_HEAD, b" " * _PIECE), endless({"text": "x" * _PIECE})
    value = _unending_chunks(_JSON_HEAD, b"x" * _PIECE, b'{"jsonrpc":"')
    deep = b'{"jsonrpc":"2.0","id":"%id%","result":' + b"[" * _DEPTH + b"]" * _DEPTH + b"}"
    return [
        Hostile("a head without end", TOO_LARGE, head, heavy=True),
        Hostile("announces a terabyte", TOO_LARGE, announced, comments, heavy=True),
        Hostile("never stops sending", TOO_LARGE, blanks, pieces, (0, 1), heavy=True),
        Hostile("one value without end", TOO_LARGE, value, _event_without_end, (0, 1), heavy=True),
        Hostile("a compression bomb", PROTOCOL, _bomb(JSON), _bomb(_EVENTS), heavy=True),
        Hostile(f"nests {_DEPTH:,} deep", PROTOCOL, saying(deep), _event(deep), heavy=True),
    ]


def _in_content() -> list[Hostile]:
    other_id = b'{"jsonrpc":"2.0","id":"of-somebody-else","result":{}}'
    twice = b'{"jsonrpc":"2.0","id":"%id%","id":"%id%","result":{}}'
    no_object = streamed(task(), piece(OUTPUT_CANARY, 0, 1), status("completed"), end="open")
    changed = streamed(task(), piece({}, 0, 2), artifact({}, append=True, taskId="task-8"), end="open")
    another = a_task("working", id="task-8")
    return [
        Hostile("answers somebody else", PROTOCOL, saying(other_id), _event(other_id)),
        Hostile("says a member twice", PROTOCOL, saying(twice), _event(twice)),
        Hostile("breaks its output schema", PROTOCOL, a_message(data(OUTPUT_CANARY)), no_object, (0, 1)),
        Hostile("changes its Task", PROTOCOL, _WORKING, changed, (1, 1), probed=another),
        Hostile("gives its own words for an error", EXECUTION, rpc_error(-32603, OUTPUT_CANARY)),
    ]


def _event(content: bytes) -> Behaviour:
    return saying(b"data: " + content + b"\n\n", 200, _EVENTS)


async def _answering_twice(received: Received) -> None:
    """The second answer waits on the connection for whoever uses it next."""
    answers = []
    for value in ({}, {FORGED: True}):
        body = json.dumps({"jsonrpc": "2.0", "id": received.json["id"], "result": message(value)}).encode()
        answers.append(_JSON_HEAD + b"content-length: %d\r\n\r\n%b" % (len(body), body))
    await received.send(b"".join(answers))


def _unending_chunks(head: bytes, more: bytes, start: bytes = b"") -> Behaviour:
    chunked = head + b"transfer-encoding: chunked\r\n\r\n"
    first, rest = (b"%x\r\n%b\r\n" % (len(content), content) for content in (start or more, more))
    return unending(chunked + first, rest)


async def _event_without_end(received: Received) -> None:
    await received.send(HEAD)
    await send_body(received, event_of(received, task()) + b"data: ")
    while not received.writer.is_closing():
        await send_body(received, b"x" * _PIECE)


def _bomb(media_type: bytes) -> Behaviour:
    async def behave(received: Received) -> None:
        await received.answer(_packed(), 200, media_type, b"content-encoding: gzip")

    return behave


@cache
def _packed() -> bytes:
    return gzip.compress(bytes(_BOMB_BYTES), 1)
