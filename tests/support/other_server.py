"""Another ASGI server than ours, for tests that run the application on it."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import uvicorn

from aop.net.asgi import ASGIApp


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The signals are those of the test run."""
        yield


class UvicornServer:
    """Started and stopped like ours."""

    def __init__(self, application: ASGIApp) -> None:
        config = uvicorn.Config(
            cast("Any", application),
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Uvicorn(config)
        self._running: asyncio.Task[None] | None = None

    @property
    def request_count(self) -> int:
        return len(self._server.server_state.tasks)

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        self._running = asyncio.create_task(self._server.serve(list(sockets)))
        while not self._server.started:
            assert not self._running.done()
            await asyncio.sleep(0.01)

    async def stop(self, grace_seconds: float) -> None:
        self._server.should_exit = True
        if self._running is not None:
            await self._running
