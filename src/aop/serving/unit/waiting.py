"""A unit whose store is away when it starts: it listens, says that it is not ready, and tries again until the store
answers or a signal stops the unit. A store that answers, but is not the right one, ends the start at once."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import msgspec

from aop.base.ids import new_trace_id
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.health import Health, HealthStatus
from aop.net.asgi import Receive, Scope, Send
from aop.net.own_server import own_server
from aop.net.server import HttpServer
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.edge.response import TRACE_HEADER, error_answer, json_response
from aop.store.problems import StoreAway

RETRY_SECONDS: Final = 0.5
_CLOSING_SECONDS: Final = 1.0

T = TypeVar("T")


def stop_event() -> asyncio.Event:
    """Set by SIGTERM and SIGINT from now on."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def once_store_answers(
    begin: Callable[[], Awaitable[T]], listeners: Sequence[socket.socket], stop: asyncio.Event, log: UnitLog
) -> T | None:
    """What `begin` returns; None when the unit is to stop before that. The listeners stay open for the server."""
    server: HttpServer | None = None
    try:
        while not stop.is_set():
            try:
                return await begin()
            except StoreAway as failure:
                if server is None:
                    log.event("unit.waiting", level=Level.WARNING, cause=f"the database cannot be reached ({failure})")
                    server = HttpServer(_answer)
                    await server.start([listener.dup() for listener in listeners])
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await stop.wait()
        return None
    finally:
        if server is not None:
            await server.stop(_CLOSING_SECONDS)


async def _answer(scope: Scope, _: Receive, __: Send) -> None:
    match scope["raw_path"]:
        case b"/livez":
            answer = json_response(200, Health(status=HealthStatus.OK))
        case b"/readyz":
            answer = json_response(503, Health(status=HealthStatus.UNAVAILABLE))
        case _:
            trace_id = new_trace_id()
            answer = error_answer(ErrorCode.DEPENDENCY_ERROR, trace_id, reason=Reason.STORE_UNAVAILABLE)
            answer = msgspec.structs.replace(answer, headers=((TRACE_HEADER, trace_id.encode()), *answer.headers))
    headers = (*answer.headers, (b"cache-control", b"no-store"), (b"connection", b"close"))
    await own_server(scope).answer(answer.status, headers, answer.body)
