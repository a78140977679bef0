"""Turns Card versions into documents of the wire."""

import msgspec

from aop.base.clock import to_text
from aop.contracts.catalog import CatalogEntry, EntryRelease, PublicationStatus
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import moment_or_unset
from aop.control_plane.registry.store.cards import CardRow


def catalog_entry(row: CardRow, public_origin: str) -> CatalogEntry:
    return CatalogEntry(
        agent_id=row.agent_id,
        version=row.version,
        publication_status=row.status,
        card_digest=row.digest,
        registered_at=to_text(row.registered_at),
        published_at=moment_or_unset(row.published_at),
        disabled_at=moment_or_unset(row.disabled_at),
        public_agent_id=row.public_agent_id,
        public_url=public_url(public_origin, row.public_agent_id),
        release=entry_release(row.release_id, row.release_state),
        installable=row.status is PublicationStatus.PUBLISHED and row.release_state is ReleaseState.PUBLISHED,
        card=msgspec.Raw(row.document),
    )


def entry_release(release_id: str | None, state: ReleaseState | None) -> EntryRelease | None:
    if release_id is None or state is None:
        return None
    return EntryRelease(release_id=release_id, state=state)


def public_url(origin: str, public_agent_id: str) -> str:
    return f"{origin}/a/{public_agent_id}"
