"""Fetches the proof that an Agent serves: one name look-up, a check of every address, one connection."""

import asyncio
from dataclasses import dataclass

from aop.contracts.publication import VerificationFailureCode as Failure
from aop.net.http import HttpClient, HttpError, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, NameNotResolved, NetworkPolicy

PROOF_PATH = "/.well-known/platform/challenges/"
MAX_PROOF_BYTES = 4096
# The client would refuse a long body before the status is read, but a redirect with a long body is a redirect.
_ANY_LENGTH = 2**62
_HEADERS = ((b"accept", b"text/plain"), (b"accept-encoding", b"identity"))


@dataclass(frozen=True)
class ServedProof:
    """The body of the answer. Its text form hides the bytes."""

    content: bytes

    def __repr__(self) -> str:
        return "ServedProof(…)"


class ProofFetch:
    """Follows no redirect, uses no proxy, and tries no second address or look-up."""

    def __init__(self, policy: NetworkPolicy, client: HttpClient) -> None:
        self._policy = policy
        self._client = client

    async def fetch(self, origin: Endpoint, challenge_id: str, seconds: float) -> ServedProof | Failure:
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            address = await self._policy.admit(origin, deadline)
            async with self._client.stream(
                Target(origin.scheme, origin.host, origin.port, address),
                "GET",
                PROOF_PATH + challenge_id,
                headers=_HEADERS,
                deadline=deadline,
                max_body=_ANY_LENGTH,
            ) as answer:
                return await _proof_in(answer)
        except AddressRefused:
            return Failure.DISALLOWED_NETWORK
        except (HttpError, NameNotResolved, TimeoutError):
            return Failure.ENDPOINT_UNAVAILABLE


async def _proof_in(answer: StreamedAnswer) -> ServedProof | Failure:
    """Checks the status before the body, and reads no more of a body than a proof can have."""
    if 300 <= answer.status < 400:
        return Failure.REDIRECT_NOT_ALLOWED
    if answer.status != 200:
        return Failure.WRONG_PROOF
    content = b""
    async for piece in answer:
        content += piece
        if len(content) > MAX_PROOF_BYTES:
            return Failure.WRONG_PROOF
    return ServedProof(content)
