"""The Agent of the front's benchmark: A2A 0.3 and A2A 1.0 on one port, answered as fast as it is asked."""

import asyncio
import json
from multiprocessing.connection import Connection
from typing import cast

import uvloop

_TEXT = b"an answer of about a kilobyte " * 34
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_OLD = b'"taskId":"t-1","contextId":"c-1"'


def agent_peer(report: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Agent, "127.0.0.1", 0)
        report.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(serve())


def _response(request_id: bytes, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":"%b","result":{%b}}' % (request_id, result)


def _event(request_id: bytes, result: bytes) -> bytes:
    content = b"data: %b\n\n" % _response(request_id, result)
    return b"%x\r\n%b\r\n" % (len(content), content)


class _Old:
    """As A2A 0.3 writes it."""

    message = b'"kind":"message","messageId":"m-1","role":"agent","parts":[{"kind":"text","text":"%b"}]' % _TEXT
    opening = b'"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"working"}'
    ending = b'"kind":"status-update",%b,"status":{"state":"completed"},"final":true' % _OLD
    piece = (
        b'"kind":"artifact-update",%b,"append":%b,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"%b"}]}'
    )


class _New:
    """As A2A 1.0 writes it."""

    message = b'"message":{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"%b"}]}' % _TEXT
    opening = b'"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}'
    ending = b'"statusUpdate":{%b,"status":{"state":"TASK_STATE_COMPLETED"}}' % _OLD
    piece = b'"artifactUpdate":{%b,"append":%b,"artifact":{"artifactId":"a","parts":[{"text":"%b"}]}}'


class _Agent(asyncio.Protocol):
    """Streams of many chunks are written chunk by chunk; the one chunk of a short stream is a kilobyte."""

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
        request = json.loads(body)
        said, name = _New if request["method"].startswith("Send") else _Old, request["id"].encode("ascii")
        if request["method"] in {"message/send", "SendMessage"}:
            answer = _response(name, said.message)
            self._transport.write(_WHOLE % (len(answer), answer))
            return
        chunks = request["params"]["message"]["parts"][0]["data"]["chunks"]
        if chunks == 1:
            events = (said.opening, said.piece % (_OLD, b"false", _TEXT), said.ending)
            self._transport.write(_HEAD + b"".join(_event(name, each) for each in events) + b"0\r\n\r\n")
            return
        self._transport.write(_HEAD + _event(name, said.opening))
        self._next(said, name, 0, chunks)

    def _next(self, said: type[_Old] | type[_New], name: bytes, number: int, count: int) -> None:
        if number == count:
            self._transport.write(_event(name, said.ending) + b"0\r\n\r\n")
            return
        append = b"true" if number else b"false"
        self._transport.write(_event(name, said.piece % (_OLD, append, b"token number %d" % number)))
        self._loop.call_soon(self._next, said, name, number + 1, count)
