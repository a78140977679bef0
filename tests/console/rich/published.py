"""Publishes the Agents over the Gateway, each by its provider, and tells what each version became."""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tests.console.people import another_account
from tests.console.recorded import Pin
from tests.console.rich.agents import Offer, offers
from tests.console.stack import Json, Stack

_AT_ONCE = 6
SUSPENDED = ("acme:news-watch", "northwind:cold-chain")
REVOKED = ("northwind:label-printer",)
DRAFTS = ("acme:draft", "northwind:bound-draft")
"""Registered, the second one bound as well, and not published."""


class Published:
    """Every Release by Agent and version, and what an Invocation of it is pinned to."""

    def __init__(self, releases: Sequence[Json]) -> None:
        self.releases = {(release["agentId"], release["version"]): release for release in releases}
        self.offers = {offer.agent_id: offer for offer in offers()}

    def newest(self, agent_id: str) -> Json:
        return self.releases[agent_id, self.offers[agent_id].versions[-1]]

    def pin(self, agent_id: str, version: str) -> Pin:
        release = self.releases[agent_id, version]
        return Pin(version, uuid.UUID(release["releaseId"].removeprefix("rel_")), bytes.fromhex(release["cardDigest"]))


def provider_of(stack: Stack, offer: Offer) -> Stack:
    """The platform as the provider of this Agent uses it."""
    account = stack if offer.principal == stack.principal else another_account(stack, offer.principal)
    return replace(account, provider=offer.provider)


def publish_all(stack: Stack) -> Published:
    everything = list(offers())
    accounts = {offer.provider: provider_of(stack, offer) for offer in everything}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        made = pool.map(lambda offer: _publish(accounts[offer.provider], offer), everything)
        releases = [release for each in made for release in each]
    _drafts(accounts)
    return Published(releases)


def _publish(account: Stack, offer: Offer) -> list[Json]:
    return [account.publish(**offer.version(version)) for version in offer.versions]


def stop_some(stack: Stack, published: Published) -> None:
    """The newest version of some is suspended or revoked, after it was installed."""
    for action, agents in (("suspend", SUSPENDED), ("revoke", REVOKED)):
        for agent_id in agents:
            account = provider_of(stack, published.offers[agent_id])
            reply = account.caller.post(f"/v1/releases/{published.newest(agent_id)['releaseId']}/{action}")
            assert reply.status == 200, reply.body


def _drafts(accounts: dict[str, Stack]) -> None:
    registered, bound = DRAFTS
    accounts["acme"].register(agentId=registered, name="Draft")
    accounts["northwind"].register(agentId=bound, name="Bound draft")
    accounts["northwind"].bind(bound)
