"""Calls of the Catalog, of Discovery and of the public share."""

from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from aop.base.canonical import digest
from aop.client.call import Call, Document, Page, Read, json_bytes, json_of, page_of, require_json
from aop.client.operation import list_operation, operation
from aop.contracts.card import AgentCard
from aop.contracts.catalog import (
    AgentOverview,
    CatalogEntry,
    DiscoveryItem,
    OwnedAgent,
    PublicAgentShare,
    PublicationStatus,
    SharedRelease,
)
from aop.contracts.compatibility import AgentCompatibility
from aop.net.http import Answer

_AGENT = "/v1/agents/{agentId}"
_VERSION = _AGENT + "/versions/{version}"
_SHARE = "/v1/public/agents/{publicAgentId}"


@dataclass(frozen=True)
class ExactCard:
    """One Card version as it was registered: its canonical bytes, whose SHA-256 is `digest`, and what they say."""

    card: AgentCard
    digest: str
    publication_status: PublicationStatus
    body: bytes = field(repr=False)


class CatalogCalls:
    """Register, publish, read and find Agent Cards."""

    @operation("POST", "/v1/agents", 201)
    def register_agent_card(self, card: Document) -> Call[CatalogEntry]:
        """Registers a draft version; bytes are sent exactly as they are."""
        return Call(json_of(CatalogEntry), body=json_bytes(card))

    @list_operation("/v1/agents")
    def discover_agents(
        self,
        query: str | None = None,
        *,
        capability: str | None = None,
        owner_id: str | None = None,
        latest: bool | None = None,
        installable: bool | None = None,
        order: Literal["relevance", "newest"] | None = None,
    ) -> Call[Page[DiscoveryItem]]:
        """Eligible published versions; filters combine with AND. Without a query the newest come first.

        `query` is words in any order, of names, ids, owner or description; small mistakes are forgiven,
        and the best match comes first unless `order` says otherwise.

        >>> [item.agent_id for item in client.discover_agents("ader acme", latest=True)]
        ['acme:adder']
        >>> [(item.agent_id, item.version) for item in client.discover_agents(capability="add")]
        [('acme:adder', '1.0.0')]
        """
        filters = {
            "query": query,
            "capability": capability,
            "ownerId": owner_id,
            "latest": latest,
            "installable": installable,
            "order": order,
        }
        return Call(page_of(DiscoveryItem), query=filters)

    @list_operation("/v1/me/agents")
    def list_my_agents(self) -> Call[Page[OwnedAgent]]:
        """Every Agent that the caller owns, over all providers, with its versions, newest first.

        >>> [(agent.agent_id, agent.provider_id, len(agent.versions)) for agent in client.list_my_agents()]
        [('acme:adder', 'provider-of-alice', 1)]
        """
        return Call(page_of(OwnedAgent))

    @operation("GET", _AGENT)
    def read_agent_overview(
        self, agent_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Call[AgentOverview]:
        """One Agent and a page of the versions the caller may see; `list_agent_versions` gives all of them."""
        return Call(json_of(AgentOverview), {"agentId": agent_id}, {"limit": limit, "cursor": cursor})

    @list_operation(_AGENT)
    def list_agent_versions(self, agent_id: str) -> Call[Page[CatalogEntry]]:
        """The versions of an Agent that the caller may see, newest first.

        >>> [entry.publication_status.value for entry in client.list_agent_versions("acme:adder")]
        ['published']
        """
        return Call(_versions, {"agentId": agent_id})

    @operation("GET", _VERSION, 200, 304)
    def read_agent_card(self, agent_id: str, version: str, *, held: ExactCard | None = None) -> Call[ExactCard]:
        """One exact Card version. With the one `held` from earlier its bytes are not sent again, only its state.

        >>> exact = client.read_agent_card("acme:adder", "1.0.0")
        >>> exact.card.name, exact.publication_status.value
        ('Adder', 'published')
        >>> client.read_agent_card("acme:adder", "1.0.0", held=exact) == exact
        True
        """
        headers = () if held is None else ((b"if-none-match", f'"{held.digest}"'.encode()),)
        return Call(_exact_card(held), {"agentId": agent_id, "version": version}, headers=headers)

    @operation("GET", _VERSION + "/compatibility")
    def read_agent_compatibility(self, agent_id: str, version: str, *, from_version: str) -> Call[AgentCompatibility]:
        """What moving from one version to another means for callers and readers of each Skill that both have.

        >>> found = client.read_agent_compatibility("acme:adder", "1.0.0", from_version="1.0.0")
        >>> [(skill.skill_id, skill.inputs.compatible.value) for skill in found.skills]
        [('add', 'yes')]
        """
        path = {"agentId": agent_id, "version": version}
        return Call(json_of(AgentCompatibility), path, {"from": from_version})

    @operation("POST", _VERSION + "/publish")
    def publish_agent_card(self, agent_id: str, version: str) -> Call[CatalogEntry]:
        """Makes a draft version public; from then on it never changes."""
        return Call(json_of(CatalogEntry), {"agentId": agent_id, "version": version})

    @operation("POST", _VERSION + "/disable")
    def disable_agent_card(self, agent_id: str, version: str) -> Call[CatalogEntry]:
        """Takes a version out of use. This cannot be undone."""
        return Call(json_of(CatalogEntry), {"agentId": agent_id, "version": version})

    @operation("GET", _SHARE)
    def read_public_agent(
        self, public_agent_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Call[PublicAgentShare]:
        """What anyone may see of an Agent, with a page of its Releases; `list_shared_releases` gives all of them.

        No token is sent.
        """
        query = {"limit": limit, "cursor": cursor}
        return Call(json_of(PublicAgentShare), {"publicAgentId": public_agent_id}, query, anonymous=True)

    @list_operation(_SHARE)
    def list_shared_releases(self, public_agent_id: str) -> Call[Page[SharedRelease]]:
        """The Releases that anyone may see of an Agent, newest first. No token is sent."""
        return Call(_releases, {"publicAgentId": public_agent_id}, anonymous=True)


_read_overview = json_of(AgentOverview)


def _versions(answer: Answer) -> Page[CatalogEntry]:
    overview = _read_overview(answer)
    return Page(overview.versions, overview.next_cursor or None)


_read_share = json_of(PublicAgentShare)


def _releases(answer: Answer) -> Page[SharedRelease]:
    share = _read_share(answer)
    return Page(share.releases, share.next_cursor or None)


def _exact_card(held: ExactCard | None) -> Read[ExactCard]:
    def read(answer: Answer) -> ExactCard:
        status = PublicationStatus((answer.header(b"x-platform-publication-status") or b"").decode("latin-1"))
        found = (answer.header(b"etag") or b"").decode("latin-1").strip('"')
        if answer.status == 304:
            if held is None or held.digest != found:
                raise ValueError("it speaks of another Card")
            return replace(held, publication_status=status)
        require_json(answer)
        if digest(answer.body) != found:
            raise ValueError("the bytes are not those of the digest")
        return ExactCard(msgspec.json.decode(answer.body, type=AgentCard), found, status, answer.body)

    return read
