"""`invoke` and `stream` as methods of both clients: what comes back is of the type that `result_type` names."""

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar, overload

from aop.client.asynchronous import AsyncBaseClient
from aop.client.call import Input
from aop.client.operation import AnyClient, Describe, DescribedMethod
from aop.client.stream import ResultStream
from aop.client.synchronous import SyncBaseClient, SyncResultStream
from aop.client.typed import Result
from aop.contracts.invocation import InvocationResult

M = TypeVar("M")


class AsyncInvoke(Protocol):
    @overload
    def __call__(
        self, workspace_id: str, agent_id: str, capability: str, input: Input, *, timeout: float | None = None
    ) -> Coroutine[Any, Any, InvocationResult]: ...
    @overload
    def __call__(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,
        *,
        result_type: type[M],
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, Result[M]]: ...


class SyncInvoke(Protocol):
    @overload
    def __call__(
        self, workspace_id: str, agent_id: str, capability: str, input: Input, *, timeout: float | None = None
    ) -> InvocationResult: ...
    @overload
    def __call__(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,
        *,
        result_type: type[M],
        timeout: float | None = None,
    ) -> Result[M]: ...


class AsyncStream(Protocol):
    @overload
    def __call__(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,
        *,
        result_type: type[M],
        timeout: float | None = None,
    ) -> ResultStream[M]: ...
    @overload
    def __call__(
        self, workspace_id: str, agent_id: str, capability: str, input: Input, *, timeout: float | None = None
    ) -> ResultStream[Any]: ...


class SyncStream(Protocol):
    @overload
    def __call__(
        self, workspace_id: str, agent_id: str, capability: str, input: Input, *, timeout: float | None = None
    ) -> SyncResultStream[Any]: ...
    @overload
    def __call__(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,
        *,
        result_type: type[M],
        timeout: float | None = None,
    ) -> SyncResultStream[M]: ...


class InvokeOperation(DescribedMethod[..., Any]):
    """One Invocation, one result."""

    @overload
    def __get__(self, client: None, owner: type) -> Describe[..., Any]: ...
    @overload
    def __get__(self, client: AsyncBaseClient, owner: type) -> AsyncInvoke: ...
    @overload
    def __get__(self, client: SyncBaseClient, owner: type) -> SyncInvoke: ...
    def __get__(self, client: AnyClient | None, owner: type) -> Any:
        return self.bound(client, lambda client, call: client.send(self.route.request(call)))


class StreamOperation(DescribedMethod[..., Any]):
    """One Invocation, a stream of events."""

    @overload
    def __get__(self, client: None, owner: type) -> Describe[..., Any]: ...
    @overload
    def __get__(self, client: AsyncBaseClient, owner: type) -> AsyncStream: ...
    @overload
    def __get__(self, client: SyncBaseClient, owner: type) -> SyncStream: ...
    def __get__(self, client: AnyClient | None, owner: type) -> Any:
        return self.bound(client, lambda client, call: client.streaming(self.route.request(call)))
