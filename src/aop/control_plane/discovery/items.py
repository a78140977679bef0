"""Turns eligible versions and shared Releases into documents: members of the Card keep their bytes, no endpoint."""

from typing import Any, Literal

import msgspec

from aop.base.clock import to_text
from aop.contracts.card import AuthenticationType
from aop.contracts.catalog import Availability, EntryRelease
from aop.contracts.wire import Wire
from aop.control_plane.discovery.store import EligibleVersion, SharedDocument
from aop.control_plane.registry.entries import entry_release, public_url


class _Authentication(msgspec.Struct, frozen=True):
    type: AuthenticationType


class _Card(msgspec.Struct, frozen=True):
    """The members of a stored Card that are shown. Schemas belong to the provider and are not decoded."""

    name: msgspec.Raw
    description: msgspec.Raw
    owner: msgspec.Raw
    skills: msgspec.Raw
    permissions: msgspec.Raw
    limits: msgspec.Raw
    authentication: _Authentication


class RawDiscoveryItem(Wire, frozen=True, kw_only=True):
    agent_id: str
    version: str
    publication_status: Literal["published"]
    card_digest: str
    registered_at: str
    published_at: str
    public_agent_id: str
    public_url: str
    release: EntryRelease | None
    installable: bool
    name: msgspec.Raw
    description: msgspec.Raw
    owner: msgspec.Raw
    skills: msgspec.Raw
    permissions: msgspec.Raw
    limits: msgspec.Raw
    authentication_type: AuthenticationType


class RawSharedRelease(Wire, frozen=True, kw_only=True):
    release_id: str
    agent_id: str
    version: str
    card_digest: str
    published_at: str
    name: msgspec.Raw
    description: msgspec.Raw
    owner: msgspec.Raw
    authentication_type: AuthenticationType
    skills: msgspec.Raw
    permissions: msgspec.Raw
    limits: msgspec.Raw


class ShareHead(Wire, frozen=True, kw_only=True):
    """The members of a share before its Releases."""

    schema_version: Literal["1"]
    public_agent_id: str
    public_url: str
    availability: Availability


_read = msgspec.json.Decoder(_Card).decode


def discovery_item(row: EligibleVersion, public_origin: str) -> RawDiscoveryItem:
    release = entry_release(row.release_id, row.release_state)
    return RawDiscoveryItem(
        agent_id=row.agent_id,
        version=row.version,
        publication_status="published",
        card_digest=row.digest,
        registered_at=to_text(row.registered_at),
        published_at=to_text(row.published_at),
        public_agent_id=row.public_agent_id,
        public_url=public_url(public_origin, row.public_agent_id),
        release=release,
        installable=release is not None,
        **_card_members(row.document),
    )


def shared_release(row: SharedDocument) -> RawSharedRelease:
    return RawSharedRelease(
        release_id=row.release_id,
        agent_id=row.agent_id,
        version=row.version,
        card_digest=row.card_digest,
        published_at=to_text(row.published_at),
        **_card_members(row.document),
    )


def _card_members(document: bytes) -> dict[str, Any]:
    members = msgspec.structs.asdict(_read(document))
    members["authentication_type"] = members.pop("authentication").type
    return members
