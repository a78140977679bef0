"""What a caller uses: an asynchronous and a synchronous client of the whole public API."""

from aop.client.asynchronous import Listing
from aop.client.call import Page
from aop.client.catalog import ExactCard
from aop.client.clients import Client, SyncClient
from aop.client.errors import (
    AnswerLost,
    BrokenAnswer,
    ClientError,
    DeadlinePassed,
    InvocationFailed,
    PlatformError,
    StreamInterrupted,
    Unreachable,
)
from aop.client.stream import ResultStream
from aop.client.synchronous import SyncListing, SyncResultStream

__all__ = [
    "AnswerLost",
    "BrokenAnswer",
    "Client",
    "ClientError",
    "DeadlinePassed",
    "ExactCard",
    "InvocationFailed",
    "Listing",
    "Page",
    "PlatformError",
    "ResultStream",
    "StreamInterrupted",
    "SyncClient",
    "SyncListing",
    "SyncResultStream",
    "Unreachable",
]
