"""An HTTP server that sends an answer a second time, as the answer to the next request on that connection."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aop.net.sse import EventParser
from tests.support.peers import JSON, Received

EVENTS = b"content-type: text/event-stream"
Say = Callable[[Received], bytes]


def http_answer(body: bytes, media_type: bytes = JSON) -> bytes:
    return b"HTTP/1.1 200 Said\r\n%b\r\ncontent-length: %d\r\n\r\n%b" % (media_type, len(body), body)


def echoed(received: Received, request_id: str | None = None) -> bytes:
    """The input as the one part of a Message, in the version and the mode that was asked for; as the answer to another
    request, if one is named."""
    (part,) = received.json["params"]["message"]["parts"]
    message = {"messageId": "m-1", "role": "agent", "parts": [part]}
    is_old = "kind" in part
    result = {"kind": "message"} | message if is_old else {"message": message | {"role": "ROLE_AGENT"}}
    response = json.dumps({"jsonrpc": "2.0", "id": request_id or received.json["id"], "result": result}).encode()
    streams = received.values("accept") == ["text/event-stream"]
    return http_answer(b"data: %b\n\n" % response, EVENTS) if streams else http_answer(response)


@dataclass
class Doubling:
    """The second copy arrives when the next request is there already. That one gets its own answer behind the copy."""

    say: Say = echoed
    received: list[Received] = field(default_factory=list)
    _last: dict[int, bytes] = field(default_factory=dict)

    async def __call__(self, received: Received) -> None:
        self.received.append(received)
        copy, said = self._last.get(received.connection, b""), self.say(received)
        self._last[received.connection] = said
        await received.send(copy + said)

    @property
    def connections(self) -> list[int]:
        """Of the requests, in order."""
        return [received.connection for received in self.received]


def outcome_of(media_type: str | None, body: bytes) -> Any:
    """What a caller is told: the result, or the only chunk of a stream, or the code of the error."""
    if media_type != "text/event-stream":
        answer = json.loads(body)
        return answer["code"] if "code" in answer else answer["result"]
    frames = [json.loads(frame) for frame in EventParser(1 << 20).feed(body)]
    last = frames[-1]
    return last["error"]["code"] if "error" in last else next(frame["chunk"] for frame in frames if "chunk" in frame)
