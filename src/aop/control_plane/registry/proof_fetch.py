"""Fetches the proof an Agent serves: one look-up, every address judged, the judged address dialed, exact bytes."""

import asyncio
from dataclasses import dataclass

from aop.contracts.publication import VerificationFailureCode as Failure
from aop.net.http import HttpClient, HttpError, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, NameNotResolved, NetworkPolicy

PROOF_PATH = "/.well-known/platform/challenges/"
MOST_PROOF_BYTES = 4096
# The client would refuse a long body before it tells the status, and a redirect with a long body is a redirect.
_ANY_LENGTH = 2**62
_HEADERS = ((b"accept", b"text/plain"), (b"accept-encoding", b"identity"))


@dataclass(frozen=True)
class ServedProof:
    """What stood at the proof path; the bytes stay out of every text form."""

    content: bytes

    def __repr__(self) -> str:
        return "ServedProof(…)"


class ProofFetch:
    """No redirect is followed, no proxy used, no second address or look-up tried."""

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
                return await _judged(answer)
        except AddressRefused:
            return Failure.DISALLOWED_NETWORK
        except (HttpError, NameNotResolved, TimeoutError):
            return Failure.ENDPOINT_UNAVAILABLE


async def _judged(answer: StreamedAnswer) -> ServedProof | Failure:
    """The status decides first, whatever body follows it; of a body no more is read than can be a proof."""
    if 300 <= answer.status < 400:
        return Failure.REDIRECT_NOT_ALLOWED
    if answer.status != 200:
        return Failure.WRONG_PROOF
    content = b""
    async for piece in answer:
        content += piece
        if len(content) > MOST_PROOF_BYTES:
            return Failure.WRONG_PROOF
    return ServedProof(content)
