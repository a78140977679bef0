"""Readers of what the Catalog, Discovery and the public share answer."""

from enum import StrEnum
from typing import Literal

import msgspec

from aop.contracts.card import AuthenticationType, Limits, Owner, Permission, Skill
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import Wire


class PublicationStatus(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    DISABLED = "disabled"


class Availability(StrEnum):
    INSTALLABLE = "installable"
    NOT_INSTALLABLE = "not_installable"


class DiscoveryOrder(StrEnum):
    RELEVANCE = "relevance"
    NEWEST = "newest"


class EntryRelease(Wire, frozen=True, kw_only=True):
    release_id: str
    state: ReleaseState


class CatalogEntry(Wire, frozen=True, kw_only=True):
    """One Card version with its state; the Card keeps its bytes."""

    agent_id: str
    version: str
    publication_status: PublicationStatus
    card_digest: str
    registered_at: str
    published_at: str | msgspec.UnsetType = msgspec.UNSET
    disabled_at: str | msgspec.UnsetType = msgspec.UNSET
    public_agent_id: str
    public_url: str
    release: EntryRelease | None
    installable: bool
    card: msgspec.Raw


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
    name: str
    description: str
    owner: Owner
    skills: tuple[Skill, ...]
    permissions: tuple[Permission, ...]
    limits: Limits
    authentication_type: AuthenticationType


class VersionCounts(Wire, frozen=True, kw_only=True):
    """How many versions of an Agent are in each state."""

    draft: int
    published: int
    disabled: int


class OwnedVersion(Wire, frozen=True, kw_only=True):
    """One version of an Agent as its owner's list shows it."""

    version: str
    publication_status: PublicationStatus
    registered_at: str
    published_at: str | msgspec.UnsetType = msgspec.UNSET
    disabled_at: str | msgspec.UnsetType = msgspec.UNSET
    release: EntryRelease | None
    installable: bool


class NewestRelease(Wire, frozen=True, kw_only=True):
    release_id: str
    version: str
    state: ReleaseState
    created_at: str
    published_at: str | msgspec.UnsetType = msgspec.UNSET


class OwnedAgent(Wire, frozen=True, kw_only=True):
    """An Agent with its versions, newest first, as its owner's list shows it."""

    agent_id: str
    public_agent_id: str
    public_url: str
    name: str
    provider_id: str | msgspec.UnsetType = msgspec.UNSET
    version_counts: VersionCounts
    versions: tuple[OwnedVersion, ...]
    newest_release: NewestRelease | None


class ResemblingPart(StrEnum):
    PREFIX = "prefix"
    NAME = "name"


class Resemblance(Wire, frozen=True, kw_only=True):
    """What an Agent has in common with something another owner used first."""

    part: ResemblingPart
    text: str
    owner_id: str
    agent_id: str | msgspec.UnsetType = msgspec.UNSET


class AgentOverview(Wire, frozen=True, kw_only=True):
    agent_id: str
    public_agent_id: str
    public_url: str
    versions: tuple[CatalogEntry, ...]
    resembles: tuple[Resemblance, ...] | msgspec.UnsetType = msgspec.UNSET
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SharedRelease(Wire, frozen=True, kw_only=True):
    release_id: str
    agent_id: str
    version: str
    card_digest: str
    published_at: str
    name: str
    description: str
    owner: Owner
    authentication_type: AuthenticationType
    skills: tuple[Skill, ...]
    permissions: tuple[Permission, ...]
    limits: Limits


class PublicAgentShare(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    public_agent_id: str
    public_url: str
    availability: Availability
    releases: tuple[SharedRelease, ...]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "catalog-entry/1": CatalogEntry,
    "discovery-item/1": DiscoveryItem,
    "agent-overview/2": AgentOverview,
    "owned-agent/1": OwnedAgent,
    "public-agent-share/1": PublicAgentShare,
}
