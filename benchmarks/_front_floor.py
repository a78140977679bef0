"""The least that any front costs: one server and one client of ours, one check of a signature, and nothing else."""

import asyncio
import time
from multiprocessing.connection import Connection

import uvloop

from aop.contracts.signing import SigningKey
from aop.net.asgi import Receive, Scope, Send
from aop.net.http import HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from aop.serving.unit import tune_gc

_SIGNED = b"the header and the claims of a credential " * 21
_CHECKS = 500
_HEADERS = ((b"content-type", b"application/json"),)


def floor_peer(agent_port: int, report: Connection) -> None:
    uvloop.run(_serve(agent_port, report))


def check_micros() -> float:
    """CPU of one check of a signature, the fastest of some rounds."""
    key = SigningKey.generate()
    signature, checked = key.sign(_SIGNED), key.public
    rounds = []
    for _ in range(5):
        before = time.thread_time_ns()
        for _ in range(_CHECKS):
            checked.confirms(_SIGNED, signature)
        rounds.append((time.thread_time_ns() - before) / 1000 / _CHECKS)
    return min(rounds)


async def _serve(agent_port: int, report: Connection) -> None:
    key = SigningKey.generate()
    signature, checked = key.sign(_SIGNED), key.public
    client = HttpClient(idle_seconds=15, connect_seconds=5)
    agent, loop = Target("http", "127.0.0.1", agent_port, "127.0.0.1"), asyncio.get_running_loop()

    async def passed_on(scope: Scope, receive: Receive, _: Send) -> None:
        body = scope["aop.whole_body"]()
        if body is None:
            body = (await receive())["body"]
        assert checked.confirms(_SIGNED, signature)
        answer = await client.request(
            agent, "POST", "/", headers=_HEADERS, body=body, deadline=loop.time() + 60, max_body=1 << 24
        )
        await scope["aop.answer"](answer.status, _HEADERS, answer.body)

    listener = listening_socket("127.0.0.1", 0)
    await HttpServer(passed_on).start([listener])
    tune_gc()
    report.send(listener.getsockname()[1])
    await asyncio.Event().wait()
