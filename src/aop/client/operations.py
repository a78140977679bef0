"""Every operation of the Gateway, described once and offered by both kinds of client."""

from aop.client.asynchronous import AsyncBaseClient
from aop.client.bundles import BundleCalls
from aop.client.catalog import CatalogCalls
from aop.client.events import EventCalls
from aop.client.figures import FigureCalls
from aop.client.identity import IdentityCalls
from aop.client.invocations import InvocationCalls
from aop.client.publication import PublicationCalls
from aop.client.synchronous import SyncBaseClient
from aop.client.workspaces import WorkspaceCalls


class Operations(
    CatalogCalls, PublicationCalls, WorkspaceCalls, InvocationCalls, BundleCalls, EventCalls, FigureCalls, IdentityCalls
):
    """The whole of `/v1`."""


class AsyncOperations(AsyncBaseClient, Operations):
    """The operations, awaited."""


class SyncOperations(SyncBaseClient, Operations):
    """The operations as plain calls."""
