"""Brings a changed Card to the platform while its Agent is developed: publishes it and moves the Workspace to it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from aop.cli.provider.agent_run import PROOFS
from aop.cli.provider.dev_steps import to_its_end
from aop.cli.provider.publish_progress import PublishProgress
from aop.cli.shell.asking import confirmed_meanwhile
from aop.cli.shell.card_findings import CardFile
from aop.cli.shell.card_version import registered_versions, with_version
from aop.cli.shell.dev_version import development_version, is_development
from aop.cli.shell.installed import find_installation, permission_lines
from aop.cli.shell.output import styled
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.client import ClientError, proof_folder
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.workspace import Installation, InstallationStatus

_WAIT_SECONDS, _LEAVE_SECONDS = 10.0, 5.0


class DevelopmentPublication:
    """Of one project. What the Workspace uses changes only when everything before has succeeded."""

    def __init__(self, platform: InWorkspace, folder: Path, provider: str | None, *, yes: bool) -> None:
        self._platform = platform
        self._folder = folder
        self._provider = provider
        self._yes = yes
        self._unused: dict[str, set[str]] = {}
        """Of each Agent the development versions to disable, as soon as it is sure that the Workspace has another."""

    async def bring(self, read: CardFile, card: AgentCard) -> None:
        """CommandProblem says why the Workspace stays where it is."""
        platform = self._platform
        entries = await registered_versions(platform, card.agent_id)
        current = await self._current(card.agent_id)
        version = development_version(read.raw, card, entries)
        if current is not None and current.installed_version == version:
            self._say(f"the Workspace {platform.workspace_id} has this Card: {card.agent_id} {version}")
            await self._disable_unused(card.agent_id, version)
            return
        accepted = await self._accepted(card, version, current, entries)
        await self._publish(read, msgspec.structs.replace(card, version=version))
        # A save that comes now waits: nobody would know which version the Workspace has, and which is to be disabled.
        await to_its_end(self._move(card.agent_id, version, accepted, current))

    async def leave(self) -> None:
        """Nothing that was made for one try stays published when the work ends."""
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                for agent_id in [agent_id for agent_id, versions in self._unused.items() if versions]:
                    current = await find_installation(self._platform, agent_id)
                    await self._disable_unused(agent_id, None if current is None else current.installed_version)
        except (ClientError, TimeoutError):
            left = [f"{agent_id} {version}" for agent_id, versions in self._unused.items() for version in versions]
            self._say(f"the platform did not answer; not disabled: {', '.join(sorted(left))}")

    async def _move(self, agent_id: str, version: str, accepted: Sequence[str], current: Installation | None) -> None:
        """Whatever becomes of the request, what it replaces is noted before: the answer may be lost on its way."""
        platform = self._platform
        if current is not None:
            self._note_unused(agent_id, current.installed_version)
        await platform.client.install_agent(
            platform.workspace_id,
            agent_id,
            version,
            accepted_permissions=accepted,
            replaces=None if current is None else current.installation_id,
        )
        moved = "installed in" if current is None else f"takes the place of {current.installed_version} in"
        try:
            await self._disable_unused(agent_id, version)
        finally:
            self._say(f"{agent_id} {version} is published and {moved} the Workspace {platform.workspace_id}")

    async def _current(self, agent_id: str) -> Installation | None:
        current = await find_installation(self._platform, agent_id)
        if current is not None and current.status is not InstallationStatus.ENABLED:
            raise CommandProblem(
                f"{agent_id} is {current.status} in the Workspace {self._platform.workspace_id}, and stays so",
                code="CONFLICT",
                recovery=f"aop enable {agent_id}, then save the Card again",
            )
        return current

    async def _accepted(
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
            question = f"Accept {', '.join(added)} for {card.agent_id} {version}?"
            if not await confirmed_meanwhile(question, self._platform.out.note):
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
        self._note_unused(card.agent_id, card.version)
        self._say(f"publishing {card.agent_id} {card.version}")
        with progress.explained():
            await self._platform.client.publish(
                with_version(read.raw.decode(), card.version).encode(),
                proofs=proof_folder(proofs),
                provider_id=provider_id,
                wait_seconds=_WAIT_SECONDS,
                on_step=progress.note,
            )

    def _note_unused(self, agent_id: str, version: str) -> None:
        """A version that its author published for others stays."""
        if is_development(version):
            self._unused.setdefault(agent_id, set()).add(version)

    async def _disable_unused(self, agent_id: str, used: str | None) -> None:
        unused = self._unused.get(agent_id, set())
        unused.discard(str(used))
        registered = await registered_versions(self._platform, agent_id) if unused else {}
        for version in sorted(unused):
            entry = registered.get(version)
            if entry is not None and entry.publication_status is not PublicationStatus.DISABLED:
                await self._platform.client.disable_agent_card(agent_id, version)
            unused.discard(version)

    def _say(self, text: str) -> None:
        self._platform.out.show(styled(("dev    ", "dim"), text))
