"""Readers of trusted publication: Endpoint Binding, Challenge, evidence and Release."""

from enum import StrEnum

import msgspec

from aop.contracts.wire import Wire


class VerificationMethod(StrEnum):
    HTTP_WELL_KNOWN = "http_well_known"


class VerificationStatus(StrEnum):
    PENDING = "pending"
    VERIFIED = "verified"
    FAILED = "failed"


class VerificationFailureCode(StrEnum):
    WRONG_PROOF = "wrong_proof"
    CHALLENGE_EXPIRED = "challenge_expired"
    DISALLOWED_NETWORK = "disallowed_network"
    ENDPOINT_UNAVAILABLE = "endpoint_unavailable"
    REDIRECT_NOT_ALLOWED = "redirect_not_allowed"


class ReleaseState(StrEnum):
    DRAFT = "draft"
    PENDING_VERIFICATION = "pending_verification"
    VERIFIED = "verified"
    PUBLISHED = "published"
    SUSPENDED = "suspended"
    REVOKED = "revoked"


class SuspendedBy(StrEnum):
    PROVIDER = "provider"
    OPERATOR = "operator"


class BindingRequest(Wire, frozen=True, kw_only=True):
    endpoint: str
    method: VerificationMethod
    version: str


class EndpointBinding(Wire, frozen=True, kw_only=True):
    binding_id: str
    provider_id: str
    agent_id: str
    version: str
    endpoint: str
    method: VerificationMethod
    verification_status: VerificationStatus
    verification_failure_code: VerificationFailureCode | msgspec.UnsetType = msgspec.UNSET
    verification_evidence_digest: str | msgspec.UnsetType = msgspec.UNSET
    verified_at: str | msgspec.UnsetType = msgspec.UNSET
    created_at: str
    updated_at: str


class IssuedChallenge(Wire, frozen=True, kw_only=True):
    """The one value that holds a raw proof, which therefore stays out of its text form."""

    challenge_id: str
    binding_id: str
    challenge_url: str
    proof: str
    expires_at: str

    def __repr__(self) -> str:
        return f"IssuedChallenge(challenge_id={self.challenge_id!r})"


class EndpointEvidence(Wire, frozen=True, kw_only=True):
    binding_id: str
    challenge_id: str
    endpoint_origin: str
    method: VerificationMethod
    proof_sha256: str
    verified_at: str


class ReleaseRequest(Wire, frozen=True, kw_only=True):
    version: str
    endpoint_binding_id: str


class Release(Wire, frozen=True, kw_only=True):
    release_id: str
    provider_id: str
    agent_id: str
    version: str
    card_digest: str
    endpoint_binding_id: str
    endpoint_origin: str
    endpoint_path: str
    verification_method: VerificationMethod
    verification_evidence_digest: str | msgspec.UnsetType = msgspec.UNSET
    state: ReleaseState
    created_at: str
    updated_at: str
    verified_at: str | msgspec.UnsetType = msgspec.UNSET
    published_at: str | msgspec.UnsetType = msgspec.UNSET
    suspended_at: str | msgspec.UnsetType = msgspec.UNSET
    suspended_by: SuspendedBy | msgspec.UnsetType = msgspec.UNSET
    revoked_at: str | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "endpoint-binding/1": EndpointBinding,
    "endpoint-binding/1#createRequest": BindingRequest,
    "challenge/1": IssuedChallenge,
    "endpoint-evidence/1": EndpointEvidence,
    "release/2": Release,
    "release/2#createRequest": ReleaseRequest,
}
