"""The synchronous way of making calls: the same requests, carried by an event loop in a thread of its own."""

import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from aop.client.base import BaseClient
from aop.client.call import Page
from aop.client.errors import AnswerLost, ClientError, StreamInterrupted, brief
from aop.client.loop_thread import LoopThread
from aop.client.request import ListRequest, OperationRequest, WholeRequest
from aop.client.stream import ResultStream
from aop.client.transport import Token
from aop.contracts.invocation import StreamEvent

T = TypeVar("T")

_END: Final = object()


class SyncBaseClient(BaseClient):
    """May be shared by threads; `with` closes its connections."""

    def __post_init__(self, token: Token | None, tls: ssl.SSLContext | None, ca: str | os.PathLike[str] | None) -> None:
        super().__post_init__(token, tls, ca)
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

    def streaming(self, request: OperationRequest[Any]) -> "SyncResultStream[Any]":
        return SyncResultStream(self._thread, ResultStream(self._transport, request, self._seconds(request.call)))

    def _iterated(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """Each item is made on the client's own thread and handled on this one; closing this closes the source."""
        try:
            while (item := self._thread.run(_next_or_end(items))) is not _END:
                yield item
        except ClientError as error:
            raise brief(error) from None
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
            page = self._read(request)
            yield from page.items
            request = self._request.after(page)

    def page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[T]:
        """One page; the limit of a later page is that of the first."""
        return self._read(self._request.page(limit, cursor))

    def _read(self, request: OperationRequest[Page[T]]) -> Page[T]:
        try:
            return self._caller.send(request)
        except ClientError as error:
            raise brief(error) from None


class SyncResultStream(Generic[T]):
    """A ResultStream for plain `with` and `for`; leaving the block before the end cancels the Invocation."""

    def __init__(self, thread: LoopThread, stream: ResultStream[T]) -> None:
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
        try:
            self._thread.run(self._stream.__aenter__())
        except ClientError as error:
            raise brief(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        """The next chunk, as the type that was asked for or as a Python value."""
        try:
            chunk: T = self._thread.run(_next_or_end(self._stream), self._interrupted)
        except ClientError as error:
            raise brief(error) from None
        if chunk is _END:
            raise StopIteration
        return chunk

    def events(self) -> Iterator[StreamEvent]:
        """Every event from `accepted` to any terminal. Raises only when the delivery breaks."""
        try:
            while self._stream.terminal is None:
                yield self._thread.run(self._stream.next_event(), self._interrupted)
        except ClientError as error:
            raise brief(error) from None

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
