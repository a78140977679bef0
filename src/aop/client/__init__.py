"""What a caller uses: an asynchronous and a synchronous client of the whole public API."""

from aop.client.asynchronous import Listing
from aop.client.call import Page
from aop.client.catalog import ExactCard
from aop.client.clients import Client, SyncClient
from aop.client.errors import (
    AnswerLost,
    BrokenAnswer,
    CardChanged,
    ClientError,
    DeadlinePassed,
    InvocationFailed,
    PlatformError,
    ProofNeeded,
    ProofNotServed,
    PublishStopped,
    StreamInterrupted,
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

__all__ = [
    "AnswerLost",
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
    "ResultStream",
    "ServeProof",
    "StreamInterrupted",
    "SyncClient",
    "SyncListing",
    "SyncResultStream",
    "Unreachable",
    "proof_folder",
]
