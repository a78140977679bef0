"""Makes one description of an operation a method of both clients: awaited in one, plain in the other."""

from collections.abc import Callable, Coroutine
from inspect import Signature, signature
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from aop.client.asynchronous import AsyncBaseClient, Listing
from aop.client.call import Call, Page
from aop.client.errors import ClientError, brief
from aop.client.request import ListRequest, OperationRoute, Parts, WholeRequest
from aop.client.synchronous import SyncBaseClient, SyncListing

P = ParamSpec("P")
T = TypeVar("T")

Describe = Callable[Concatenate[Any, P], Call[T]]
AnyClient = AsyncBaseClient | SyncBaseClient


class DescribedMethod(Generic[P, T]):
    """A method whose body describes the call; the client that it is called on sends it."""

    def __init__(self, route: OperationRoute, describe: Describe[P, T]) -> None:
        self.route = route
        self.describe = describe
        self.__doc__ = describe.__doc__
        own = [*signature(describe).parameters.values()][1:]
        self._metadata = {"__doc__": describe.__doc__, "__name__": describe.__name__, "__signature__": Signature(own)}

    def bound(self, client: AnyClient | None, perform: Callable[[AnyClient, Call[T]], Any]) -> Any:
        """The method as it is called: its own arguments, name and documentation. Of the class, the description."""
        if client is None:
            return self.describe

        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                return perform(client, self.describe(client, *args, **kwargs))
            except ClientError as error:
                raise brief(error) from None

        for name, value in self._metadata.items():
            setattr(call, name, value)
        return call


class Operation(DescribedMethod[P, T]):
    """One request, one answer."""

    @overload
    def __get__(self, client: None, owner: type) -> Describe[P, T]: ...
    @overload
    def __get__(self, client: AsyncBaseClient, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: SyncBaseClient, owner: type) -> Callable[P, T]: ...
    def __get__(self, client: AnyClient | None, owner: type) -> Any:
        return self.bound(client, lambda client, call: client.send(self.route.request(call)))


class WholeOperation(DescribedMethod[P, T]):
    """One document, read page by page if it is large."""

    def __init__(self, route: OperationRoute, parts: Parts[T], describe: Describe[P, T]) -> None:
        super().__init__(route, describe)
        self._parts = parts

    @overload
    def __get__(self, client: None, owner: type) -> Describe[P, T]: ...
    @overload
    def __get__(self, client: AsyncBaseClient, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: SyncBaseClient, owner: type) -> Callable[P, T]: ...
    def __get__(self, client: AnyClient | None, owner: type) -> Any:
        return self.bound(client, lambda client, call: client.whole(WholeRequest(self.route, call, self._parts)))


class ListOperation(DescribedMethod[P, Page[T]]):
    """A list, read page by page."""

    @overload
    def __get__(self, client: None, owner: type) -> Describe[P, Page[T]]: ...
    @overload
    def __get__(self, client: AsyncBaseClient, owner: type) -> Callable[P, Listing[T]]: ...
    @overload
    def __get__(self, client: SyncBaseClient, owner: type) -> Callable[P, SyncListing[T]]: ...
    def __get__(self, client: AnyClient | None, owner: type) -> Any:
        return self.bound(client, lambda client, call: client.listing(ListRequest(self.route, call)))


def operation(method: str, path: str, *statuses: int) -> Callable[[Describe[P, T]], Operation[P, T]]:
    """`statuses` are those of success, 200 by default."""
    return lambda describe: Operation(OperationRoute(method, path, statuses or (200,)), describe)


def whole_operation(path: str, parts: Parts[T]) -> Callable[[Describe[P, T]], WholeOperation[P, T]]:
    return lambda describe: WholeOperation(OperationRoute("GET", path, (200,)), parts, describe)


def list_operation(path: str) -> Callable[[Describe[P, Page[T]]], ListOperation[P, T]]:
    return lambda describe: ListOperation(OperationRoute("GET", path, (200,)), describe)
