"""The Agent of the stream benchmarks: it answers as fast as it is asked, in a process of its own."""

import asyncio
import json
import time
from multiprocessing.connection import Connection
from typing import Any, cast

import uvloop


def agent_peer(report: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_StreamingAgent, "127.0.0.1", 0)
        report.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(serve())


_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_MESSAGE = (
    b'"result":{"kind":"message","messageId":"m-1","role":"agent","parts":[{"kind":"data","data":{"text":"%b"}}]}}'
) % (b"an answer of about a kilobyte " * 32)
_TASK = b'"taskId":"t-1","contextId":"c-1"'
_PROOFS: dict[bytes, bytes] = {}
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _begin(request_id: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":"%b",' % request_id.encode("ascii")


def _message(request_id: str) -> bytes:
    answer = _begin(request_id) + _MESSAGE
    return _WHOLE % (len(answer), answer)


def _event(begin: bytes, result: bytes) -> bytes:
    content = b'data: %b"result":{%b}}\n\n' % (begin, result)
    return b"%x\r\n%b\r\n" % (len(content), content)


def _piece(begin: bytes, number: int, count: int) -> bytes:
    append, last = (b"true" if flag else b"false" for flag in (number > 0, number == count - 1))
    part = b'{"kind":"data","data":{"text":"token number %d, sent at %.6f"}}' % (number, time.time())
    return _event(
        begin,
        b'"kind":"artifact-update",%b,"append":%b,"lastChunk":%b,"artifact":{"artifactId":"a","parts":[%b]}'
        % (_TASK, append, last, part),
    )


_OPENING = b'"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"working"}'
_ENDING = b'"kind":"status-update",%b,"status":{"state":"completed"},"final":true' % _TASK


class _StreamingAgent(asyncio.Protocol):
    """Streams as many chunks as the order says, each written on its own; without a pause as fast as they can go."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        self._seen = b""

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, mark, body = self._seen.partition(b"\r\n\r\n")
        length = int((head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) or 0)
        if not mark or len(body) < length:
            return
        self._seen = b""
        verb, path, _ = head.split(b" ", 2)
        if verb == b"POST":
            self._answer(json.loads(body))
        else:
            if verb == b"PUT":
                _PROOFS[path] = body
            proof = _PROOFS.get(path, b"")
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(proof), proof))

    def _answer(self, request: Any) -> None:
        if request["method"] == "message/send":
            order, message = request["params"]["message"]["parts"][0]["data"], _message(request["id"])
            if "pauseMs" in order:
                self._loop.call_later(order["pauseMs"] / 1000, self._transport.write, message)
            else:
                self._transport.write(message)
            return
        if request["method"] != "message/stream":
            self._transport.write(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")
            return
        order, begin = request["params"]["message"]["parts"][0]["data"], _begin(request["id"])
        self._transport.write(_HEAD + _event(begin, _OPENING))
        self._next(begin, 0, int(order["chunks"]), order["pauseMs"] / 1000)

    def _next(self, begin: bytes, number: int, count: int, pause: float) -> None:
        if self._transport.is_closing():
            return
        if number == count:
            self._transport.write(_event(begin, _ENDING) + b"0\r\n\r\n")
            return
        self._transport.write(_piece(begin, number, count))
        if pause:
            self._loop.call_later(pause, self._next, begin, number + 1, count, pause)
        else:
            self._loop.call_soon(self._next, begin, number + 1, count, pause)
