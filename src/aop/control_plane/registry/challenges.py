"""Challenges: each is issued with a proof that is shown once, and is completed at most once, within its lifetime.

Completion: 1. ids and rights; 2. not used yet; 3. Binding not verified yet; 4. not expired; 5. claim, committed;
6. fetch; 7. still not expired; 8. the bytes; 9. the outcome, only while the Binding is open; 10. verified.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from aop.base.canonical import canonical, digest
from aop.base.clock import Clock, to_text
from aop.base.ids import new_id
from aop.contracts.errors import Conflict, ErrorCode, NotFound, Reason, Refusal
from aop.contracts.publication import (
    EndpointBinding,
    EndpointEvidence,
    IssuedChallenge,
    VerificationStatus,
)
from aop.contracts.publication import VerificationFailureCode as Failure
from aop.control_plane.registry.bindings import own_binding
from aop.control_plane.registry.lifecycle import CHALLENGEABLE
from aop.control_plane.registry.proof_fetch import PROOF_PATH, ProofFetch, ServedProof
from aop.control_plane.registry.store import bindings
from aop.control_plane.registry.store.bindings import ChallengeRow
from aop.net.origin import Endpoint
from aop.store.database import Database

_PROOF_BYTES = 32


class ChallengeReused(Refusal):
    code = ErrorCode.CHALLENGE_REUSED


class VerificationFailed(Refusal):
    """The Binding failed; the caller sees the code that has the name of the recorded failure."""

    def __init__(self, failure: Failure) -> None:
        self.code = ErrorCode[failure.name]
        super().__init__(f"Binding failed: {failure}")


@dataclass(frozen=True)
class ChallengePolicy:
    lifetime_seconds: int
    verification_timeout_ms: int


class Challenges:
    def __init__(self, database: Database, clock: Clock, proofs: ProofFetch, policy: ChallengePolicy) -> None:
        self._database = database
        self._clock = clock
        self._proofs = proofs
        self._policy = policy

    async def create(self, caller: str, provider_id: str, binding_id: str) -> IssuedChallenge:
        proof, challenge_id = secrets.token_hex(_PROOF_BYTES), new_id("chal")
        expires_at = self._clock() + timedelta(seconds=self._policy.lifetime_seconds)
        async with self._database.transaction() as connection:
            binding = await own_binding(connection, caller, provider_id, binding_id)
            if binding.verification_status not in CHALLENGEABLE:
                raise Conflict("the Binding is verified", reason=Reason.BINDING_VERIFIED)
            await bindings.insert_challenge(connection, challenge_id, binding_id, _sha256(proof.encode()), expires_at)
        return IssuedChallenge(
            challenge_id=challenge_id,
            binding_id=binding_id,
            challenge_url=Endpoint.parse(binding.endpoint).origin + PROOF_PATH + challenge_id,
            proof=proof,
            expires_at=to_text(expires_at),
        )

    async def complete(self, caller: str, provider_id: str, binding_id: str, challenge_id: str) -> EndpointBinding:
        binding, challenge = await self._claim(caller, provider_id, binding_id, challenge_id)
        expires_at = challenge.expires_at
        left = (expires_at - self._clock()).total_seconds()
        seconds = min(self._policy.verification_timeout_ms / 1000, left)
        served = await self._proofs.fetch(Endpoint.parse(binding.endpoint), challenge_id, seconds)
        now = self._clock()
        if now >= expires_at:
            served = Failure.CHALLENGE_EXPIRED
        elif isinstance(served, ServedProof):
            if hmac.compare_digest(_sha256(served.content), challenge.proof_sha256):
                return await self._verify(binding, challenge, now)
            served = Failure.WRONG_PROOF
        return await self._fail(binding_id, served)

    async def _claim(
        self, caller: str, provider_id: str, binding_id: str, challenge_id: str
    ) -> tuple[EndpointBinding, ChallengeRow]:
        # The claim commits before any network traffic: a crash or a race can waste a challenge, but can never let one
        # be used twice.
        async with self._database.transaction() as connection:
            binding = await own_binding(connection, caller, provider_id, binding_id)
            challenge = await bindings.find_challenge(connection, binding_id, challenge_id)
            if challenge is None:
                raise NotFound("no such Challenge of this Binding", reason=Reason.CHALLENGE_UNKNOWN)
            if challenge.used_at is not None:
                raise ChallengeReused("used before")
            if binding.verification_status is VerificationStatus.VERIFIED:
                raise Conflict("the Binding is verified", reason=Reason.BINDING_VERIFIED)
            now = self._clock()
            expired = now >= challenge.expires_at
            if not expired and not await bindings.claim_challenge(connection, challenge_id, now):
                raise ChallengeReused("used just now")
        if expired:
            await self._fail(binding_id, Failure.CHALLENGE_EXPIRED)
        return binding, challenge

    async def _fail(self, binding_id: str, failure: Failure) -> EndpointBinding:
        async with self._database.transaction() as connection:
            if not await bindings.set_failed(connection, binding_id, failure, self._clock()):
                raise Conflict("the Binding was verified just now", reason=Reason.BINDING_VERIFIED)
        raise VerificationFailed(failure)

    async def _verify(self, binding: EndpointBinding, challenge: ChallengeRow, now: datetime) -> EndpointBinding:
        evidence = EndpointEvidence(
            binding_id=binding.binding_id,
            challenge_id=challenge.challenge_id,
            endpoint_origin=Endpoint.parse(binding.endpoint).origin,
            method=binding.method,
            proof_sha256=challenge.proof_sha256.hex(),
            verified_at=to_text(now),
        )
        sealed = digest(canonical(msgspec.to_builtins(evidence)))
        async with self._database.transaction() as connection:
            verified = await bindings.set_verified(connection, binding.binding_id, sealed, now)
            if verified is None:
                raise Conflict("the Binding was verified just now", reason=Reason.BINDING_VERIFIED)
            await bindings.insert_evidence(connection, challenge.challenge_id, now, sealed)
        return verified


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
