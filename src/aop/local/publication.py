"""Publishes a sample Agent through the public API and installs it: each step once, whatever an earlier start left."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aop.base.canonical import canonical, digest
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.publication import (
    BindingRequest,
    EndpointBinding,
    IssuedChallenge,
    Release,
    ReleaseRequest,
    ReleaseState,
    VerificationMethod,
    VerificationStatus,
)
from aop.contracts.workspace import (
    Installation,
    InstallationStatus,
    InstallRequest,
    Workspace,
    WorkspaceRequest,
)
from aop.local.gateway import GatewayCalls, path_of
from aop.local.problems import LocalProblem, StepFailed
from aop.local.samples import Sample
from aop.local.state import PublishedAgent

PROVIDER = "aop"
WORKSPACE = "demo"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Publication:
    """Acts as one principal; a start that finds everything in place changes nothing."""

    gateway: GatewayCalls
    principal: str
    say: Say

    async def publish(self, sample: Sample, proofs: Path) -> PublishedAgent:
        """The sample's version as the Catalog has it afterwards; `proofs` is the directory its proof page serves."""
        try:
            return await self._publish(sample, proofs)
        except LocalProblem as problem:
            raise StepFailed(f"publishing the sample Agent {sample.name}: {problem}") from problem

    async def install(self, sample: Sample) -> None:
        """Into the demo Workspace, with every declared permission; one that was ever installed is left as it is."""
        try:
            await self._install(sample)
        except LocalProblem as problem:
            raise StepFailed(f"installing the sample Agent {sample.name}: {problem}") from problem

    async def open_workspace(self) -> None:
        if await self.gateway.find(path_of("workspaces", WORKSPACE), Workspace) is None:
            await self.gateway.post("/v1/workspaces", WorkspaceRequest(workspace_id=WORKSPACE), Workspace)

    async def _publish(self, sample: Sample, proofs: Path) -> PublishedAgent:
        card = sample.card_for(self.principal)
        entry = await self._entry(sample.card)
        if entry is None:
            self.say(f"publishing {sample.card.agent_id} {sample.card.version}")
            entry = await self.gateway.post("/v1/agents", card, CatalogEntry)
        elif entry.card_digest != digest(canonical(card)):
            self.say(_difference(sample, entry))
        release = entry.release
        if release is None:
            binding_id = await self._verified_binding(entry, proofs)
            request = ReleaseRequest(version=entry.version, endpoint_binding_id=binding_id)
            made = await self.gateway.post(self._provided(entry, "releases"), request, Release)
            release_id, state = made.release_id, made.state
        else:
            release_id, state = release.release_id, release.state
        if state is ReleaseState.VERIFIED and entry.publication_status is not PublicationStatus.DISABLED:
            state = (await self.gateway.post(path_of("releases", release_id, "publish"), None, Release)).state
        self._say_unusable(entry, state)
        return PublishedAgent(entry.agent_id, entry.version, release_id, sample.origin)

    async def _entry(self, card: AgentCard) -> CatalogEntry | None:
        versions = await self.gateway.all(path_of("agents", card.agent_id), CatalogEntry)
        return next((entry for entry in versions if entry.version == card.version), None)

    async def _verified_binding(self, entry: CatalogEntry, proofs: Path) -> str:
        """An earlier start may have left one at any stage: verified it is used, unverified it is tried again."""
        bindings = path_of("providers", PROVIDER, "endpoint-bindings")
        of_agent = await self.gateway.all(bindings, EndpointBinding, agentId=entry.agent_id)
        earlier = [binding for binding in of_agent if binding.version == entry.version]
        for binding in earlier:
            if binding.verification_status is VerificationStatus.VERIFIED:
                return binding.binding_id
        if earlier:
            found = earlier[0]
        else:
            endpoint = msgspec.json.decode(entry.card, type=AgentCard).protocol.endpoint
            request = BindingRequest(
                endpoint=endpoint, method=VerificationMethod.HTTP_WELL_KNOWN, version=entry.version
            )
            found = await self.gateway.post(self._provided(entry, "endpoint-bindings"), request, EndpointBinding)
        await self._prove(f"{bindings}/{found.binding_id}/challenges", proofs)
        return found.binding_id

    async def _prove(self, challenges: str, proofs: Path) -> None:
        challenge = await self.gateway.post(challenges, None, IssuedChallenge)
        proof = proofs / challenge.challenge_id
        try:
            proof.write_bytes(challenge.proof.encode())
            await self.gateway.post(f"{challenges}/{challenge.challenge_id}/complete", None, EndpointBinding)
        finally:
            proof.unlink(missing_ok=True)

    async def _install(self, sample: Sample) -> None:
        installations = path_of("workspaces", WORKSPACE, "installations")
        of_workspace = await self.gateway.all(installations, Installation)
        earlier = [found for found in of_workspace if found.agent_id == sample.card.agent_id]
        if earlier:
            self._say_other_version(sample, earlier)
            return
        entry = await self._entry(sample.card)
        if entry is None or not entry.installable:
            return
        declared = msgspec.json.decode(entry.card, type=AgentCard).permissions
        request = InstallRequest(
            agent_id=entry.agent_id,
            version_constraint=f"^{entry.version}",
            accepted_permissions=tuple(permission.id for permission in declared),
        )
        await self.gateway.post(installations, request, Installation)

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

    def _provided(self, entry: CatalogEntry, kind: str) -> str:
        return path_of("providers", PROVIDER, "agents", entry.agent_id, kind)


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
