"""The two clients: every operation of the Gateway, awaited or plain."""

from aop.client.asynchronous import AsyncCaller
from aop.client.catalog import CatalogCalls
from aop.client.invocations import InvocationCalls
from aop.client.publication import PublicationCalls
from aop.client.synchronous import SyncCaller
from aop.client.workspaces import WorkspaceCalls


class Operations(CatalogCalls, PublicationCalls, WorkspaceCalls, InvocationCalls):
    """The whole of `/v1`, described once."""


class Client(AsyncCaller, Operations):
    """The asynchronous client.

        async with Client("http://127.0.0.1:8080", token) as client:
            result = await client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]})
            print(result.value)

    Lists are iterated with `async for`. It belongs to the event loop of its first call.
    """


class SyncClient(SyncCaller, Operations):
    """The same client without `await`; threads may share it.

    with SyncClient("http://127.0.0.1:8080", token) as client:
        print(client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]}).value)
    """
