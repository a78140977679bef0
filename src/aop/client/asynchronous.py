"""The asynchronous way of making calls: awaited values, lists for `async for`."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from aop.client.base import BaseClient
from aop.client.call import Page
from aop.client.errors import ClientError, brief
from aop.client.request import ListRequest, OperationRequest, WholeRequest
from aop.client.stream import ResultStream

T = TypeVar("T")


class AsyncBaseClient(BaseClient):
    """Belongs to the event loop of its first call; `async with` closes its connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends every connection; a stream that still runs is interrupted."""
        await self._transport.close()

    async def send(self, request: OperationRequest[T]) -> T:
        try:
            return await self._transport.send(request, self._seconds(request.call))
        except ClientError as error:
            raise brief(error) from None

    async def whole(self, request: WholeRequest[T]) -> T:
        return await request.read(self.send)

    def listing(self, request: ListRequest[T]) -> "Listing[T]":
        return Listing(self, request)

    def streaming(self, request: OperationRequest[Any], *, strict: bool = True) -> ResultStream[Any]:
        return ResultStream(self._transport, request, self._seconds(request.call), strict=strict)


class Listing(Generic[T]):
    """A list that is read page by page while it is iterated. Each iteration starts from the first page."""

    def __init__(self, caller: AsyncBaseClient, request: ListRequest[T]) -> None:
        self._caller = caller
        self._request = request

    async def __aiter__(self) -> AsyncIterator[T]:
        request: OperationRequest[Page[T]] | None = self._request.page()
        while request is not None:
            page = await self._caller.send(request)
            for item in page.items:
                yield item
            request = self._request.after(page)

    async def page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[T]:
        """One page; the limit of a later page is that of the first."""
        return await self._caller.send(self._request.page(limit, cursor))
