"""Publishes a sample Agent through the public API and installs it: each step once, whatever an earlier start left."""

from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from aop.base.canonical import canonical, digest
from aop.client import Client, ClientError, PlatformError
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import ReleaseState, VerificationStatus
from aop.contracts.workspace import Installation, InstallationStatus
from aop.local.hints import with_hint
from aop.local.problems import StepFailed
from aop.local.samples import Sample
from aop.local.state import PublishedAgent

T = TypeVar("T")

PROVIDER = "aop"
WORKSPACE = "demo"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Publication:
    """Acts as one principal; a start that finds everything in place changes nothing."""

    client: Client
    principal: str
    say: Say

    async def publish(self, sample: Sample, proofs: Path) -> PublishedAgent:
        """The sample's version as the Catalog has it afterwards; `proofs` is the directory its proof page serves."""
        try:
            return await self._publish(sample, proofs)
        except ClientError as problem:
            raise StepFailed(f"publishing the sample Agent {sample.name}: {with_hint(problem)}") from problem

    async def install(self, sample: Sample) -> None:
        """Into the demo Workspace, with every declared permission; one that was ever installed is left as it is."""
        try:
            await self._install(sample)
        except ClientError as problem:
            raise StepFailed(f"installing the sample Agent {sample.name}: {with_hint(problem)}") from problem

    async def open_workspace(self) -> None:
        try:
            if await _known(self.client.read_workspace(WORKSPACE)) is None:
                await self.client.create_workspace(WORKSPACE)
        except ClientError as problem:
            raise StepFailed(f"opening the Workspace {WORKSPACE}: {with_hint(problem)}") from problem

    async def _publish(self, sample: Sample, proofs: Path) -> PublishedAgent:
        card = sample.card_for(self.principal)
        entry = await self._entry(sample.card)
        if entry is None:
            self.say(f"publishing {sample.card.agent_id} {sample.card.version}")
            entry = await self.client.register_agent_card(card)
        elif entry.card_digest != digest(canonical(card)):
            self.say(_difference(sample, entry))
        release = entry.release
        if release is None:
            binding_id = await self._verified_binding(entry, proofs)
            made = await self.client.create_release(PROVIDER, entry.agent_id, entry.version, binding_id)
            release_id, state = made.release_id, made.state
        else:
            release_id, state = release.release_id, release.state
        if state is ReleaseState.VERIFIED and entry.publication_status is not PublicationStatus.DISABLED:
            state = (await self.client.publish_release(release_id)).state
        self._say_unusable(entry, state)
        return PublishedAgent(entry.agent_id, entry.version, release_id, sample.origin)

    async def _entry(self, card: AgentCard) -> CatalogEntry | None:
        versions = await _known(_all(self.client.list_agent_versions(card.agent_id)))
        return next((entry for entry in versions or () if entry.version == card.version), None)

    async def _verified_binding(self, entry: CatalogEntry, proofs: Path) -> str:
        """An earlier start may have left one at any stage: verified it is used, unverified it is tried again."""
        of_agent = await _known(_all(self.client.list_endpoint_bindings(PROVIDER, agent_id=entry.agent_id)))
        earlier = [binding for binding in of_agent or () if binding.version == entry.version]
        for binding in earlier:
            if binding.verification_status is VerificationStatus.VERIFIED:
                return binding.binding_id
        if earlier:
            found = earlier[0]
        else:
            endpoint = msgspec.json.decode(entry.card, type=AgentCard).protocol.endpoint
            found = await self.client.create_endpoint_binding(PROVIDER, entry.agent_id, entry.version, endpoint)
        await self._prove(found.binding_id, proofs)
        return found.binding_id

    async def _prove(self, binding_id: str, proofs: Path) -> None:
        challenge = await self.client.create_challenge(PROVIDER, binding_id)
        proof = proofs / challenge.challenge_id
        try:
            proof.write_bytes(challenge.proof.encode())
            await self.client.complete_challenge(PROVIDER, binding_id, challenge.challenge_id)
        finally:
            proof.unlink(missing_ok=True)

    async def _install(self, sample: Sample) -> None:
        of_workspace = self.client.list_installations(WORKSPACE)
        earlier = [found async for found in of_workspace if found.agent_id == sample.card.agent_id]
        if earlier:
            self._say_other_version(sample, earlier)
            return
        entry = await self._entry(sample.card)
        if entry is None or not entry.installable:
            return
        declared = msgspec.json.decode(entry.card, type=AgentCard).permissions
        accepted = [permission.id for permission in declared]
        await self.client.install_agent(WORKSPACE, entry.agent_id, f"^{entry.version}", accepted_permissions=accepted)

    def _say_unusable(self, entry: CatalogEntry, state: ReleaseState) -> None:
        agent = f"{entry.agent_id} {entry.version}"
        if entry.publication_status is PublicationStatus.DISABLED:
            self.say(f"{agent} is disabled and is left so; raise its version to publish it again")
        elif state is not ReleaseState.PUBLISHED:
            self.say(f"the Release of {agent} is {state} and is left so")

    def _say_other_version(self, sample: Sample, earlier: list[Installation]) -> None:
        for found in earlier:
            current = found.status is not InstallationStatus.UNINSTALLED
            if current and found.installed_version != sample.card.version:
                self.say(
                    f"Workspace {WORKSPACE} keeps {found.agent_id} {found.installed_version};"
                    f" to use {sample.card.version}, uninstall it there and install it again"
                )


async def _all(listing: AsyncIterable[T]) -> list[T]:
    return [item async for item in listing]


async def _known(call: Awaitable[T]) -> T | None:
    """None when nothing is known under that address."""
    try:
        return await call
    except PlatformError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        return None


def _difference(sample: Sample, entry: CatalogEntry) -> str:
    """A registered version never changes, so the one in the Catalog stays in use."""
    file, agent = f"agents/{sample.name}/card.json", f"{entry.agent_id} {entry.version}"
    published = msgspec.json.decode(entry.card, type=AgentCard).protocol.endpoint
    if published != sample.endpoint:
        return (
            f"{agent} is published at {published} but now listens on {sample.origin}, where the platform will not"
            f" look for it; raise `version` in {file} to publish it there"
        )
    return (
        f"{file} has changed, but {agent} is already published and never changes; going on with that one."
        f" Raise `version` in {file} to publish the change"
    )
