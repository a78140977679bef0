"""The least that whoever stands between costs: one server and one client of ours; a front also checks a signature."""

import asyncio
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import uvloop

from aop.agent import ReplayMemory, Trust, Verifier
from aop.agent.testing import SignedRouter
from aop.contracts.signing import SigningKey
from aop.net.asgi import Receive, Scope, Send
from aop.net.http import Headers, HttpClient, Target
from aop.net.own_server import own_server
from aop.net.server import HttpServer, listening_socket
from aop.serving.unit.unit import tune_gc

_SIGNED = b"the header and the claims of a credential " * 21
_CHECKS = 500
_HEADERS = ((b"content-type", b"application/json"),)


def floor_peer(agent_port: int, report: Connection) -> None:
    """That of a front."""
    key = SigningKey.generate()
    signature, checked = key.sign(_SIGNED), key.public

    def check() -> None:
        assert checked.confirms(_SIGNED, signature)

    uvloop.run(_serve(agent_port, "/", _HEADERS, report, check))


def plain_floor_peer(port: int, path: str, headers: Headers, report: Connection) -> None:
    """That of a door: the body is passed on as it is."""
    uvloop.run(_serve(port, path, headers, report, lambda: None))


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


def all_checks_micros() -> float:
    """CPU of all checks of a credential, the signature among them. An Agent without a front makes them itself."""
    router = SignedRouter.new("http://127.0.0.1:8099")
    trust = Trust(router.issuer, router.audience, router.key_id, router.key.public)
    rounds = []
    for _ in range(5):
        requests = [router.request(_SIGNED) for _ in range(_CHECKS)]
        verifier = Verifier(trust, ReplayMemory())
        before = time.thread_time_ns()
        for request in requests:
            verifier.verify(request.headers, request.body)
        rounds.append((time.thread_time_ns() - before) / 1000 / _CHECKS)
    return min(rounds)


async def _serve(port: int, path: str, headers: Headers, report: Connection, check: Callable[[], None]) -> None:
    client = HttpClient(idle_seconds=15, connect_seconds=5)
    target, loop = Target("http", "127.0.0.1", port, "127.0.0.1"), asyncio.get_running_loop()

    async def passed_on(scope: Scope, receive: Receive, _: Send) -> None:
        body = own_server(scope).whole_body()
        if body is None:
            body = (await receive())["body"]
        check()
        answer = await client.request(
            target, "POST", path, headers=headers, body=body, deadline=loop.time() + 60, max_body=1 << 24
        )
        await own_server(scope).answer(answer.status, _HEADERS, answer.body)

    listener = listening_socket("127.0.0.1", 0)
    await HttpServer(passed_on).start([listener])
    tune_gc()
    report.send(listener.getsockname()[1])
    await asyncio.Event().wait()
