"""Publishes and installs the sample Agents through the public API; a start that finds them in place changes nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aop.client import (
    CardRegistered,
    ChangedCard,
    Client,
    ClientError,
    PlatformError,
    PublishStep,
    PublishStopped,
    proof_folder,
)
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.workspace import Installation, InstallationStatus
from aop.local.problems import StepFailed
from aop.local.samples import Sample
from aop.local.state import PublishedAgent

PROVIDER = "aop"
WORKSPACE = "demo"

Say = Callable[[str], None]

_HINTS = {
    ErrorCode.FORBIDDEN: "it belongs to another principal; use another data folder or database, or --no-agents",
    ErrorCode.UNAUTHENTICATED: "the access token was not accepted; does PLATFORM_OIDC_… replace access tokens?",
    ErrorCode.DISALLOWED_NETWORK: "its address is not on the allow-list; add it with --allow HOST:PORT",
    ErrorCode.ENDPOINT_UNAVAILABLE: "the Agent did not answer at its address; its log file says why",
    ErrorCode.WRONG_PROOF: "another program answers at the Agent's address; stop it and start again",
    ErrorCode.CHALLENGE_EXPIRED: "the machine's clock may have jumped; start again",
    ErrorCode.VALIDATION_ERROR: "correct card.json and start again",
}
_USUAL_HINT = "the log files of the units say why; start again, or start without the Agents with --no-agents"


@dataclass(frozen=True)
class SamplePublication:
    """Acts as one principal."""

    client: Client
    principal: str
    say: Say

    async def publish(self, sample: Sample, proofs: Path) -> PublishedAgent | None:
        """The sample's version as the Catalog has it afterwards; `proofs` is the directory its proof page serves.

        A version that was taken out of use stays so; None when it has no Release.
        """
        with _explained(f"publishing the sample Agent {sample.name}"):
            try:
                release = await self.client.publish(
                    sample.card_for(self.principal),
                    proofs=proof_folder(proofs),
                    provider_id=PROVIDER,
                    changed=ChangedCard.KEEP,
                    wait_seconds=0,  # the unit is ready, so its proof page answers
                    on_step=lambda step: self._say_step(sample, step),
                )
            except PublishStopped as stopped:
                self._say_out_of_use(stopped)
                kept = stopped.entry.release
                return None if kept is None else _published(sample, kept.release_id)
        return _published(sample, release.release_id)

    async def install(self, sample: Sample) -> None:
        """Into the demo Workspace, with every declared permission. An earlier Installation is not changed."""
        with _explained(f"installing the sample Agent {sample.name}"):
            await self._install(sample)

    async def open_workspace(self) -> None:
        with _explained(f"opening the Workspace {WORKSPACE}"):
            try:
                await self.client.read_workspace(WORKSPACE)
            except PlatformError as error:
                if error.code is not ErrorCode.NOT_FOUND:
                    raise
                await self.client.create_workspace(WORKSPACE)

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

    async def _entry(self, card: AgentCard) -> CatalogEntry | None:
        async for entry in self.client.list_agent_versions(card.agent_id):
            if entry.version == card.version:
                return entry
        return None

    def _say_step(self, sample: Sample, step: PublishStep) -> None:
        if isinstance(step, CardRegistered) and not step.already:
            self.say(f"publishing {step.entry.agent_id} {step.entry.version}")
        elif isinstance(step, CardRegistered) and step.changed:
            self.say(_difference(sample, step.entry))

    def _say_out_of_use(self, stopped: PublishStopped) -> None:
        if stopped.entry.publication_status is PublicationStatus.DISABLED:
            self.say(f"{stopped} and stays so; raise its version to publish it again")
        else:
            self.say(f"{stopped} and stays so")

    def _say_other_version(self, sample: Sample, earlier: Sequence[Installation]) -> None:
        for found in earlier:
            current = found.status is not InstallationStatus.UNINSTALLED
            if current and found.installed_version != sample.card.version:
                self.say(
                    f"Workspace {WORKSPACE} keeps {found.agent_id} {found.installed_version};"
                    f" to use {sample.card.version}, uninstall it there and install it again"
                )


@contextmanager
def _explained(step: str) -> Iterator[None]:
    try:
        yield
    except ClientError as problem:
        raise StepFailed(f"{step}: {_with_hint(problem)}") from problem


def _published(sample: Sample, release_id: str) -> PublishedAgent:
    return PublishedAgent(sample.card.agent_id, sample.card.version, release_id, sample.origin)


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
        f"{file} has changed, but {agent} is already published and never changes; it stays in use."
        f" Raise `version` in {file} to publish the change"
    )


def _with_hint(problem: ClientError) -> str:
    hint = _HINTS.get(problem.code, _USUAL_HINT) if isinstance(problem, PlatformError) else _USUAL_HINT
    return f"{problem}\n  {hint}"
