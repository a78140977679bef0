"""Brings a changed Card to the platform while its Agent is developed: publishes it and moves the Workspace to it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from aop.cli.agent_run import PROOFS
from aop.cli.card_findings import CardFile
from aop.cli.card_version import registered_versions, with_version
from aop.cli.dev_version import development_version, is_development
from aop.cli.install import permission_lines
from aop.cli.installations import current_installation
from aop.cli.output import styled
from aop.cli.platform import InWorkspace
from aop.cli.problems import CommandProblem
from aop.cli.publish_progress import PublishProgress
from aop.client import proof_folder
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry
from aop.contracts.workspace import Installation, InstallationStatus

_WAIT_SECONDS = 10.0


class DevelopmentPublication:
    """Of one project. What the Workspace uses changes only when everything before has succeeded."""

    def __init__(self, platform: InWorkspace, folder: Path, provider: str | None, *, yes: bool) -> None:
        self._platform = platform
        self._folder = folder
        self._provider = provider
        self._yes = yes
        self._unused: set[str] = set()
        """Made here and not installed, because a later change or an error came first."""

    async def bring(self, read: CardFile, card: AgentCard) -> None:
        """CommandProblem says why the Workspace stays where it is."""
        platform = self._platform
        entries = await registered_versions(platform, card.agent_id)
        current = await self._current(card.agent_id)
        version = development_version(read.raw, card, entries)
        if current is not None and current.installed_version == version:
            self._say(f"the Workspace {platform.workspace_id} has this Card: {card.agent_id} {version}")
            return
        accepted = self._accepted(card, version, current, entries)
        await self._publish(read, msgspec.structs.replace(card, version=version))
        await platform.client.install_agent(
            platform.workspace_id,
            card.agent_id,
            version,
            accepted_permissions=accepted,
            replaces=None if current is None else current.installation_id,
        )
        self._unused.discard(version)
        await self._disable(card.agent_id, current)
        moved = "installed in" if current is None else f"takes the place of {current.installed_version} in"
        self._say(f"{card.agent_id} {version} is published and {moved} the Workspace {platform.workspace_id}")

    async def _current(self, agent_id: str) -> Installation | None:
        try:
            current = await current_installation(self._platform, agent_id)
        except CommandProblem as problem:
            if problem.code != "AGENT_NOT_INSTALLED":
                raise
            return None
        if current.status is not InstallationStatus.ENABLED:
            raise CommandProblem(
                f"{agent_id} is {current.status} in the Workspace {self._platform.workspace_id}, and stays so",
                code="CONFLICT",
                recovery=f"aop enable {agent_id}, then save the Card again",
            )
        return current

    def _accepted(
        self, card: AgentCard, version: str, current: Installation | None, entries: Mapping[str, CatalogEntry]
    ) -> Sequence[str]:
        """What was declined before stays declined. What is new is accepted by a person, or by --yes."""
        before = None if current is None else entries.get(current.installed_version)
        earlier = frozenset(() if current is None else current.accepted_permissions)
        asked_before = () if before is None else msgspec.json.decode(before.card, type=AgentCard).permissions
        declined = {one.id for one in asked_before} - earlier
        accepted = [one.id for one in card.permissions if one.id not in declined]
        added = [name for name in accepted if name not in earlier]
        if added and not self._yes:
            self._platform.out.note(*permission_lines(card, accepted))
            if not self._platform.out.confirms(f"Accept {', '.join(added)} for {card.agent_id} {version}?"):
                raise CommandProblem(
                    f"{card.agent_id} asks for {', '.join(added)}, which was not accepted; nothing was published",
                    code="declined",
                    recovery="save the Card again and answer yes, or start `aop dev` with --yes",
                )
        return accepted

    async def _publish(self, read: CardFile, card: AgentCard) -> None:
        provider_id = self._provider or card.owner.id
        proofs = self._folder / PROOFS
        progress = PublishProgress(self._platform, read, card, provider_id, proofs)
        if is_development(card.version):
            self._unused.add(card.version)
        self._say(f"publishing {card.agent_id} {card.version}")
        with progress.explained():
            await self._platform.client.publish(
                with_version(read.raw.decode(), card.version).encode(),
                proofs=proof_folder(proofs),
                provider_id=provider_id,
                wait_seconds=_WAIT_SECONDS,
                on_step=progress.note,
            )

    async def _disable(self, agent_id: str, before: Installation | None) -> None:
        """A version that its author published for others stays."""
        if before is not None and is_development(before.installed_version):
            self._unused.add(before.installed_version)
        registered = await registered_versions(self._platform, agent_id)
        for version in sorted(self._unused & registered.keys()):
            await self._platform.client.disable_agent_card(agent_id, version)
        self._unused.clear()

    def _say(self, text: str) -> None:
        self._platform.out.show(styled(("dev    ", "dim"), text))
