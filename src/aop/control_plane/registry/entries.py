"""How rows of the Registry look on the wire."""

from datetime import datetime
from typing import Any

import msgspec

from aop.base.clock import to_text
from aop.cards.reading import ReadCard
from aop.contracts.catalog import CatalogEntry, EntryRelease, PublicationStatus
from aop.contracts.publication import (
    EndpointBinding,
    Release,
    ReleaseState,
    SuspendedBy,
    VerificationFailureCode,
    VerificationMethod,
    VerificationStatus,
)

Row = Any


def catalog_entry(row: Row, public_origin: str) -> CatalogEntry:
    released = row["release_id"] is not None
    installable = row["status"] == PublicationStatus.PUBLISHED and row["release_state"] == ReleaseState.PUBLISHED
    return CatalogEntry(
        agent_id=row["agent_id"],
        version=row["version"],
        publication_status=PublicationStatus(row["status"]),
        card_digest=row["digest"],
        registered_at=to_text(row["registered_at"]),
        published_at=_moment(row["published_at"]),
        disabled_at=_moment(row["disabled_at"]),
        public_agent_id=row["public_agent_id"],
        public_url=public_url(public_origin, row["public_agent_id"]),
        release=EntryRelease(release_id=row["release_id"], state=ReleaseState(row["release_state"]))
        if released
        else None,
        installable=installable,
        card=msgspec.Raw(row["document"]),
    )


def draft_entry(read: ReadCard, now: datetime, public_agent_id: str, public_origin: str) -> CatalogEntry:
    """Of a version that has just been registered."""
    return CatalogEntry(
        agent_id=read.card.agent_id,
        version=read.card.version,
        publication_status=PublicationStatus.DRAFT,
        card_digest=read.digest,
        registered_at=to_text(now),
        public_agent_id=public_agent_id,
        public_url=public_url(public_origin, public_agent_id),
        release=None,
        installable=False,
        card=msgspec.Raw(read.document),
    )


def public_url(origin: str, public_agent_id: str) -> str:
    return f"{origin}/a/{public_agent_id}"


def endpoint_binding(row: Row) -> EndpointBinding:
    failure = row["failure_code"]
    return EndpointBinding(
        binding_id=row["binding_id"],
        provider_id=row["provider_id"],
        agent_id=row["agent_id"],
        version=row["version"],
        endpoint=row["endpoint_origin"] + row["endpoint_path"],
        method=VerificationMethod(row["method"]),
        verification_status=VerificationStatus(row["status"]),
        verification_failure_code=msgspec.UNSET if failure is None else VerificationFailureCode(failure),
        verification_evidence_digest=_text(row["evidence_digest"]),
        verified_at=_moment(row["verified_at"]),
        created_at=to_text(row["created_at"]),
        updated_at=to_text(row["updated_at"]),
    )


def release(row: Row) -> Release:
    suspended_by = row["suspended_by"]
    return Release(
        release_id=row["release_id"],
        provider_id=row["provider_id"],
        agent_id=row["agent_id"],
        version=row["version"],
        card_digest=row["card_digest"],
        endpoint_binding_id=row["binding_id"],
        endpoint_origin=row["endpoint_origin"],
        endpoint_path=row["endpoint_path"],
        verification_method=VerificationMethod(row["method"]),
        verification_evidence_digest=_text(row["evidence_digest"]),
        state=ReleaseState(row["state"]),
        created_at=to_text(row["created_at"]),
        updated_at=to_text(row["updated_at"]),
        verified_at=_moment(row["verified_at"]),
        published_at=_moment(row["published_at"]),
        suspended_at=_moment(row["suspended_at"]),
        suspended_by=msgspec.UNSET if suspended_by is None else SuspendedBy(suspended_by),
        revoked_at=_moment(row["revoked_at"]),
    )


def _moment(moment: datetime | None) -> str | msgspec.UnsetType:
    return msgspec.UNSET if moment is None else to_text(moment)


def _text(text: str | None) -> str | msgspec.UnsetType:
    return msgspec.UNSET if text is None else text
