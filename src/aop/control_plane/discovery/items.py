"""How eligible versions and shared Releases look on the wire: members of the Card in their own bytes, no endpoint."""

from typing import Any, Literal

import msgspec

from aop.base.clock import to_text
from aop.contracts.card import AuthenticationType
from aop.contracts.catalog import Availability, EntryRelease
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import Wire
from aop.control_plane.registry.entries import public_url

Row = Any


class _Authentication(msgspec.Struct, frozen=True):
    type: AuthenticationType


class _Card(msgspec.Struct, frozen=True):
    """What of a stored Card is shown. Schemas belong to the provider, so nothing is decoded that need not be."""

    name: msgspec.Raw
    description: msgspec.Raw
    owner: msgspec.Raw
    skills: msgspec.Raw
    permissions: msgspec.Raw
    limits: msgspec.Raw
    authentication: _Authentication


class DiscoveryItem(Wire, frozen=True, kw_only=True):
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


class SharedRelease(Wire, frozen=True, kw_only=True):
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
    """What a share says before its Releases."""

    schema_version: Literal["1"]
    public_agent_id: str
    public_url: str
    availability: Availability


_read = msgspec.json.Decoder(_Card).decode


def discovery_item(row: Row, public_origin: str) -> DiscoveryItem:
    card, release_id = _read(row["document"]), row["release_id"]
    return DiscoveryItem(
        agent_id=row["agent_id"],
        version=row["version"],
        publication_status="published",
        card_digest=row["digest"],
        registered_at=to_text(row["registered_at"]),
        published_at=to_text(row["published_at"]),
        public_agent_id=row["public_agent_id"],
        public_url=public_url(public_origin, row["public_agent_id"]),
        release=None
        if release_id is None
        else EntryRelease(release_id=release_id, state=ReleaseState(row["release_state"])),
        installable=release_id is not None,
        name=card.name,
        description=card.description,
        owner=card.owner,
        skills=card.skills,
        permissions=card.permissions,
        limits=card.limits,
        authentication_type=card.authentication.type,
    )


def shared_release(row: Row) -> SharedRelease:
    card = _read(row["document"])
    return SharedRelease(
        release_id=row["release_id"],
        agent_id=row["agent_id"],
        version=row["version"],
        card_digest=row["card_digest"],
        published_at=to_text(row["published_at"]),
        name=card.name,
        description=card.description,
        owner=card.owner,
        authentication_type=card.authentication.type,
        skills=card.skills,
        permissions=card.permissions,
        limits=card.limits,
    )
