"""The Agent of a load run as a program: does what the input orders, calls itself through the Router, keeps who asked.

Prints its port. An order may hold `number` (given back in the answer and in each chunk), `pauseMs`, `chunks`, `pad`
(bytes of each chunk), `fault` and `fan` (how many children at each level below).
"""

import argparse
import asyncio
import base64
import json
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import uvloop

from aop.net.http import HttpClient, Target
from aop.net.sockets import BACKLOG, listening_socket

CAPABILITY = "work"
FAULTS = {
    "reset": "AGENT_UNAVAILABLE",
    "status": "AGENT_UNAVAILABLE",
    "garbage": "A2A_PROTOCOL_ERROR",
    "error": "AGENT_EXECUTION_FAILED",
}
"""What an order may name, and the code that its caller must be told."""

_ACCEPTS_A_TURN = 16
_NESTED_PATH = "/agent/v1/invocations"
_MAX_UNSENT, _UNSENT_SECONDS = 256 * 1024, 0.05
_TASK = '"taskId":"t-1","contextId":"c-1"'
_WHOLE = b"HTTP/1.1 %d Said\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_STREAM = b"HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class Record:
    """Who asked for what, a line each; and the proofs to be served."""

    seen: IO[str]
    router: Target
    client: HttpClient
    proofs: dict[str, bytes] = field(default_factory=dict)
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def keep(self, method: str, headers: dict[str, str]) -> None:
        claims = headers["authorization"].split(".")[1]
        jti = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["jti"]
        self.seen.write(f"{time.time():.6f} {method} {headers['x-platform-invocation-id']} {jti}\n")


class Connection(asyncio.Protocol):
    """One request at a time, as the Router sends them."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._loop = asyncio.get_running_loop()
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        head, mark, body = self._unread.partition(b"\r\n\r\n")
        if not mark:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if len(body) < int(headers.get("content-length", "0")):
            return
        self._unread = b""
        verb, target, _ = first.split(" ")
        if verb == "POST":
            self._serve(json.loads(body), headers)
        else:
            self._proved(verb, target, body)

    def _proved(self, verb: str, target: str, body: bytes) -> None:
        if verb == "PUT":
            self._record.proofs[target] = body
        proof = self._record.proofs.get(target, b"")
        self._transport.write(_WHOLE % (200 if proof else 404, len(proof), proof))

    def _serve(self, request: Any, headers: dict[str, str]) -> None:
        method = request["method"]
        self._record.keep(method, headers)
        if method == "tasks/cancel":
            self._say(request, {"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "canceled"}})
            return
        order = request["params"]["message"]["parts"][0]["data"]
        if "fault" in order:
            self._fail(request, order["fault"])
        elif method == "message/stream":
            Chunks(self._transport, request["id"], order).begin()
        elif order.get("fan"):
            task = self._loop.create_task(self._call_others(request, order, headers))
            self._record.tasks.add(task)
            task.add_done_callback(self._record.tasks.discard)
        elif "pauseMs" in order:
            self._loop.call_later(order["pauseMs"] / 1000, self._answer, request, {"number": order["number"]})
        else:
            self._answer(request, {"number": order["number"], "leaves": 1})

    def _fail(self, request: Any, fault: str) -> None:
        if fault == "reset":
            self._transport.abort()
        elif fault == "status":
            self._transport.write(_WHOLE % (500, 0, b""))
        elif fault == "garbage":
            self._transport.write(_WHOLE % (200, 7, b"garbage"))
        else:
            self._say(request, {"code": -32000, "message": "no"}, "error")

    async def _call_others(self, request: Any, order: Any, headers: dict[str, str]) -> None:
        count, *deeper = order["fan"]
        child = {"targetAgentId": headers["x-platform-target-agent-id"], "capability": CAPABILITY, "stream": False}
        body = json.dumps({**child, "input": {"number": order["number"], "fan": deeper}}).encode()
        sent = [
            (b"authorization", b"Bearer " + headers["x-platform-delegation"].encode()),
            (b"content-type", b"application/json"),
        ]
        answers = await asyncio.gather(
            *(
                self._record.client.request(
                    self._record.router,
                    "POST",
                    _NESTED_PATH,
                    headers=sent,
                    body=body,
                    deadline=self._loop.time() + 60,
                    max_body=1 << 20,
                )
                for _ in range(count)
            )
        )
        results = [json.loads(answer.body).get("result", {}) for answer in answers]
        self._answer(request, {"number": order["number"], "leaves": sum(one.get("leaves", 0) for one in results)})

    def _answer(self, request: Any, value: Any) -> None:
        parts = [{"kind": "data", "data": value}]
        self._say(request, {"kind": "message", "messageId": "m-1", "role": "agent", "parts": parts})

    def _say(self, request: Any, result: Any, member: str = "result") -> None:
        content = json.dumps({"jsonrpc": "2.0", "id": request["id"], member: result}).encode()
        self._transport.write(_WHOLE % (200, len(content), content))


@dataclass
class Chunks:
    """A stream of the ordered pieces, each with its number and the time at which it was sent."""

    transport: asyncio.Transport
    request_id: str
    order: Any

    def __post_init__(self) -> None:
        self._pad = "x" * self.order.get("pad", 0)

    def begin(self) -> None:
        self.transport.write(_STREAM)
        self._send('"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"working"}')
        self._next(0)

    def _next(self, number: int) -> None:
        loop, count, pause = asyncio.get_running_loop(), self.order["chunks"], self.order.get("pauseMs", 0) / 1000
        if self.transport.is_closing():
            return
        if number == count:
            self._send(f'"kind":"status-update",{_TASK},"status":{{"state":"completed"}},"final":true')
            self.transport.write(b"0\r\n\r\n")
            return
        if self.transport.get_write_buffer_size() > _MAX_UNSENT:
            loop.call_later(_UNSENT_SECONDS, self._next, number)
            return
        value = f'{{"of":{self.order["number"]},"chunk":{number},"at":{time.time():.6f},"pad":"{self._pad}"}}'
        append, last = ("true" if flag else "false" for flag in (number > 0, number == count - 1))
        parts = f'"artifact":{{"artifactId":"a","parts":[{{"kind":"data","data":{value}}}]}}'
        self._send(f'"kind":"artifact-update",{_TASK},"append":{append},"lastChunk":{last},{parts}')
        loop.call_later(pause, self._next, number + 1)

    def _send(self, members: str) -> None:
        content = f'data: {{"jsonrpc":"2.0","id":"{self.request_id}","result":{{{members}}}}}\n\n'.encode()
        self.transport.write(b"%x\r\n%b\r\n" % (len(content), content))


async def serve(router_port: int, seen: Path) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    client = HttpClient(idle_seconds=5, connect_seconds=5, max_idle_per_target=1024)
    with seen.open("w", buffering=1 << 16) as file:
        record = Record(file, Target("http", "127.0.0.1", router_port, "127.0.0.1"), client)
        listening = listening_socket("127.0.0.1", 0)
        # Of each the loop accepts one connection a turn.
        listeners = [listening, *(listening.dup() for _ in range(_ACCEPTS_A_TURN - 1))]
        servers = [await loop.create_server(lambda: Connection(record), sock=one, backlog=BACKLOG) for one in listeners]
        print(listening.getsockname()[1], flush=True)  # noqa: T201  what its parent waits for
        await ended.wait()
        for server in servers:
            server.close()
        await client.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--router", type=int, required=True)
    parser.add_argument("--seen", type=Path, required=True)
    chosen = parser.parse_args()
    uvloop.run(serve(chosen.router, chosen.seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
