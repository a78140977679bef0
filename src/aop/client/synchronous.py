"""The synchronous way of making calls: the same requests, carried by an event loop in a thread of its own."""

import asyncio
import ssl
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from aop.client.base import BaseClient
from aop.client.call import Page
from aop.client.errors import AnswerLost, StreamInterrupted
from aop.client.request import ListRequest, OperationRequest, WholeRequest
from aop.client.stream import ResultStream
from aop.client.transport import Token
from aop.contracts.invocation import StreamEvent

T = TypeVar("T")

_END: Final = object()
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


class SyncBaseClient(BaseClient):
    """May be shared by threads; `with` closes its connections."""

    def __post_init__(self, token: Token | None, tls: ssl.SSLContext | None) -> None:
        super().__post_init__(token, tls)
        self._thread = LoopThread()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends every connection. Calls that wait in other threads end at once with AnswerLost, streams with
        StreamInterrupted."""
        self._thread.close(self._transport.close)

    def send(self, request: OperationRequest[T]) -> T:
        return self._thread.run(self._transport.send(request, self._seconds(request.call)))

    def whole(self, request: WholeRequest[T]) -> T:
        return self._thread.run(request.read(lambda page: self._transport.send(page, self._seconds(page.call))))

    def listing(self, request: ListRequest[T]) -> "SyncListing[T]":
        return SyncListing(self, request)

    def streaming(self, request: OperationRequest[Any]) -> "SyncResultStream":
        return SyncResultStream(self._thread, ResultStream(self._transport, request, self._seconds(request.call)))

    def _iterated(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """Each item is made on the client's own thread and handled on this one; closing this closes the source."""
        try:
            while (item := self._thread.run(_next_or_end(items))) is not _END:
                yield item
        finally:
            if not self._thread.closed:
                self._thread.run(_ended(items))


class SyncListing(Generic[T]):
    """A list that is read page by page while it is iterated. Each iteration starts from the first page."""

    def __init__(self, caller: SyncBaseClient, request: ListRequest[T]) -> None:
        self._caller = caller
        self._request = request

    def __iter__(self) -> Iterator[T]:
        request: OperationRequest[Page[T]] | None = self._request.page()
        while request is not None:
            page = self._caller.send(request)
            yield from page.items
            request = self._request.after(page)

    def page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[T]:
        """One page; the limit of a later page is that of the first."""
        return self._caller.send(self._request.page(limit, cursor))


class SyncResultStream:
    """A ResultStream for plain `with` and `for`; leaving the block before the end cancels the Invocation."""

    def __init__(self, thread: LoopThread, stream: ResultStream) -> None:
        self._thread = thread
        self._stream = stream

    @property
    def invocation_id(self) -> str | None:
        return self._stream.invocation_id

    @property
    def root_task_id(self) -> str | None:
        return self._stream.root_task_id

    @property
    def trace_id(self) -> str | None:
        return self._stream.trace_id

    @property
    def terminal(self) -> StreamEvent | None:
        return self._stream.terminal

    def __enter__(self) -> Self:
        self._thread.run(self._stream.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """The next chunk as a Python value."""
        chunk = self._thread.run(_next_or_end(self._stream), self._interrupted)
        if chunk is _END:
            raise StopIteration
        return chunk

    def events(self) -> Iterator[StreamEvent]:
        """Every event from `accepted` to any terminal. Raises only when the delivery breaks."""
        while self._stream.terminal is None:
            yield self._thread.run(self._stream.next_event(), self._interrupted)

    def close(self) -> None:
        """Closes the connection; before the terminal this cancels the Invocation."""
        try:
            if not self._thread.closed:
                self._thread.run(self._stream.aclose())
        except (RuntimeError, AnswerLost):
            if not self._thread.closed:  # else its connection is closed as well
                raise

    def _interrupted(self) -> Exception:
        return StreamInterrupted("transfer", trace_id=self.trace_id, invocation_id=self.invocation_id)


async def _next_or_end(items: AsyncIterator[Any]) -> Any:
    return await anext(items, _END)


async def _ended(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
