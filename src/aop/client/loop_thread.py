"""Runs coroutines for threads that have no event loop, on a loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Final, TypeVar

from aop.client.errors import AnswerLost

T = TypeVar("T")

_CLOSING_SECONDS: Final = 5.0
"""How long `close` waits for the client's own thread, which a token function may be holding up."""


def _answer_lost() -> Exception:
    return AnswerLost("the client was closed before the answer came")


class LoopThread:
    """Runs coroutines for threads that have no event loop; starts with the first and ends when closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._awaited: set[Future[Any]] = set()
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def run(self, coroutine: Coroutine[Any, Any, T], interrupted: Callable[[], Exception] = _answer_lost) -> T:
        """Whatever interrupts the waiting thread, Ctrl-C above all, cancels the coroutine. When the client is closed
        meanwhile, `interrupted` makes the error."""
        future = self._begun(coroutine)
        try:
            return future.result()
        except CancelledError:
            if not self._closed:
                raise
            raise interrupted() from None
        except BaseException:
            future.cancel()
            raise
        finally:
            self._awaited.discard(future)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Ends the waiting calls of all threads, then runs `last` and stops."""
        with self._lock:
            self._require_other_thread()
            loop, thread, ended = self._loop, self._thread, self._closed
            self._closed = True
        if ended or loop is None or thread is None:
            return
        # Threads are let go here, not by the loop: a token function of the user may be holding that up.
        for future in tuple(self._awaited):
            future.cancel()
        asyncio.run_coroutine_threadsafe(_end(last), loop)
        thread.join(_CLOSING_SECONDS)

    def _begun(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        # Under the lock, so that `close` knows every call that was begun before it, and none begins after it.
        with self._lock:
            try:
                future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
            except RuntimeError:
                coroutine.close()
                raise
            self._awaited.add(future)
            return future

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise RuntimeError("this client is closed")
        self._require_other_thread()
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), name="aop-client", daemon=True)
            self._thread.start()
        return self._loop

    def _require_other_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a call from the client's own thread, such as from a token function, cannot end")


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Cancels everything that still runs on the loop, then stops it."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    try:
        await asyncio.gather(*tasks, return_exceptions=True)
        await last()
    finally:
        asyncio.get_running_loop().stop()
