"""The types of ASGI, an answer that cannot be completed, and the peer's leaving as seen without a task of its own."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class AnswerBroken(Exception):
    """Raised by an application that cannot end its answer: the server closes the connection, and the peer sees it."""


class Disconnect:
    """Set once, when the peer has closed or broken the connection during its request; never cleared.

    It stays unset when the request ends in the ordinary way.
    """

    # As of a peer that is there and that nobody watches: each request has one, and few are ever written to.
    _set = False
    _callbacks: list[Callable[[], object]] | None = None

    def is_set(self) -> bool:
        return self._set

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Called once, from the loop, with no argument; at once when the peer has already gone."""
        if self._set:
            callback()
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)

    def remove_callback(self, callback: Callable[[], object]) -> None:
        if self._callbacks is not None and callback in self._callbacks:
            self._callbacks.remove(callback)

    async def wait(self) -> None:
        if self._set:
            return
        gone = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not gone.done():
                gone.set_result(None)

        self.add_callback(wake)
        try:
            await gone
        finally:
            self.remove_callback(wake)

    def set(self) -> None:
        if self._set:
            return
        self._set = True
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback()
