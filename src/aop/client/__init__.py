"""What a caller uses: an asynchronous and a synchronous client of the whole public API."""

from aop.base import own_package as _own_package  # noqa: F401  first, because it may say what is wrong

# isort: split
from aop.client.asynchronous import Listing
from aop.client.call import Page
from aop.client.catalog import ExactCard
from aop.client.clients import Client, SyncClient
from aop.client.errors import (
    AnswerLost,
    AuthoritiesNotUsable,
    BrokenAnswer,
    CardChanged,
    ClientError,
    DeadlinePassed,
    InvalidAddress,
    InvocationFailed,
    PlatformError,
    ProofNeeded,
    ProofNotServed,
    PublishStopped,
    ResultMismatch,
    StreamInterrupted,
    TokenNeeded,
    Unreachable,
)
from aop.client.proofs import ServeProof, proof_folder
from aop.client.publishing import (
    CardRegistered,
    ChallengeCreated,
    ChangedCard,
    EndpointBound,
    EndpointProved,
    ProofServed,
    PublishStep,
    ReleaseCreated,
    ReleasePublished,
    ReleaseVerified,
)
from aop.client.stream import ResultStream
from aop.client.synchronous import SyncListing, SyncResultStream
from aop.client.typed import Result

__all__ = [
    "AnswerLost",
    "AuthoritiesNotUsable",
    "BrokenAnswer",
    "CardChanged",
    "CardRegistered",
    "ChallengeCreated",
    "ChangedCard",
    "Client",
    "ClientError",
    "DeadlinePassed",
    "EndpointBound",
    "EndpointProved",
    "ExactCard",
    "InvalidAddress",
    "InvocationFailed",
    "Listing",
    "Page",
    "PlatformError",
    "ProofNeeded",
    "ProofNotServed",
    "ProofServed",
    "PublishStep",
    "PublishStopped",
    "ReleaseCreated",
    "ReleasePublished",
    "ReleaseVerified",
    "Result",
    "ResultMismatch",
    "ResultStream",
    "ServeProof",
    "StreamInterrupted",
    "SyncClient",
    "SyncListing",
    "SyncResultStream",
    "TokenNeeded",
    "Unreachable",
    "proof_folder",
]
