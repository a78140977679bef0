"""`aop upgrade`: shows what another version changes, and replaces the Installation by it in one step."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from aop.base.semver import Version
from aop.cli.consumer.install import chosen_version, installed_lines, require_declared
from aop.cli.shell.card_difference import CardDifference
from aop.cli.shell.installed import current_installation, permission_lines
from aop.cli.shell.output import Line, styled, table
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.cli.shell.release_reach import UNAVAILABLE
from aop.client import ExactCard, PlatformError
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry
from aop.contracts.errors import ErrorCode
from aop.contracts.workspace import Installation, InstallationStatus

_DECLINED = "nothing was upgraded"


@dataclass(frozen=True)
class _Upgrade:
    """An Installation, the version it would move to, and the permissions that this one would get."""

    current: Installation
    chosen: CatalogEntry
    card: AgentCard
    before: ExactCard | None
    """None when the caller may not read the installed version any more."""
    accepted: Sequence[str]

    @property
    def title(self) -> str:
        return f"{self.current.agent_id} {self.current.installed_version} → {self.chosen.version}"

    @property
    def newly_accepted(self) -> Sequence[str]:
        return [name for name in self.accepted if name not in self.current.accepted_permissions]

    @property
    def changes_nothing(self) -> bool:
        same = self.chosen.version == self.current.installed_version
        return same and set(self.accepted) == set(self.current.accepted_permissions)


@click.argument("agent", metavar="[AGENT]", required=False, help="The Agent's id; default: all with a newer version.")
@click.option("--to", metavar="RANGE", help="A version or range like ^2.0; default: the newest installable.")
@click.option("--accept", metavar="PERMISSION", multiple=True, help="Accept only this permission; can be repeated.")
@click.option("--all", "every", is_flag=True, help="Upgrade all that have a newer version, after one question.")
@click.option("--yes", "-y", is_flag=True, help="Upgrade and accept the permissions without a question.")
async def upgrade(
    platform: InWorkspace, agent: str | None, to: str | None, accept: tuple[str, ...], every: bool, yes: bool
) -> None:
    """You see what changes before you are asked: permissions, Skills, schemas, limits, and whether old inputs stay
    valid. No call is refused while the new version takes the place of the old one: a call that was accepted before ends
    on the old version.

    A permission that you did not accept for the old version stays so; new ones are accepted. --accept names all that
    you accept. --to may also name an older version, or the same one with other permissions. A disabled Installation is
    not upgraded. Without AGENT the command lists what has a newer version and asks for each.

    Example: aop upgrade aop:summarizer
    Example: aop upgrade aop:summarizer --to ^2.0 --accept text.read --yes
    Example: aop upgrade --all --yes
    """
    if agent is None:
        if to is not None or accept:
            raise UsageProblem("--to and --accept are for one Agent", "name it: aop upgrade AGENT")
        await _upgrade_several(platform, every, yes)
        return
    if every:
        raise UsageProblem("--all is for all Agents", "leave out AGENT or --all")
    current = await current_installation(platform, agent)
    _require_enabled(current)
    chosen = await platform.waiting("reading the Cards", chosen_version(platform, current.agent_id, "--to", to))
    found = await _prepared(platform, current, chosen, accept)
    if found.changes_nothing or (to is None and not _is_newer(chosen, current)):
        newest = "the newest installable version" if to is None else "the version of this range, with these permissions"
        platform.out.tell(current, f"{current.agent_id} {current.installed_version} is {newest}; nothing was changed")
        return
    await _show(platform, found)
    platform.out.require_yes(yes, _question(found), _DECLINED)
    await _replace(platform, found, to)


async def _upgrade_several(platform: InWorkspace, every: bool, yes: bool) -> None:
    found = [one async for one in _upgradable(platform)]
    rows = [(one.current.agent_id, one.current.installed_version, one.chosen.version) for one in found]
    lines = (
        table(["agent", "installed", "newest"], rows) if rows else ["every enabled Installation is the newest version"]
    )
    if not (every or yes) or not found:
        items = [dict(zip(("agentId", "installedVersion", "newestVersion"), row, strict=True)) for row in rows]
        platform.out.tell({"items": items}, *lines)
    if every:
        for one in found:
            await _show(platform, one)
        if found:
            platform.out.require_yes(yes, f"Upgrade these {len(found)}?", _DECLINED)
    for one in found:
        if not every:
            await _show(platform, one)
        if every or yes or platform.out.confirms(_question(one)):
            await _replace(platform, one, None)


async def _upgradable(platform: InWorkspace) -> AsyncIterator[_Upgrade]:
    async for current in platform.client.list_installations(platform.workspace_id):
        if current.status is not InstallationStatus.ENABLED:
            continue
        try:
            chosen = await chosen_version(platform, current.agent_id, "--to", None)
        except CommandProblem:  # nothing of it can be installed any more
            continue
        except PlatformError as error:
            if error.code is not ErrorCode.FORBIDDEN:  # nothing of it may be seen any more
                raise
            continue
        if _is_newer(chosen, current):
            yield await _prepared(platform, current, chosen, ())


async def _prepared(
    platform: InWorkspace, current: Installation, chosen: CatalogEntry, accept: Sequence[str]
) -> _Upgrade:
    card = msgspec.json.decode(chosen.card, type=AgentCard)
    before: ExactCard | None = None
    try:
        before = await platform.client.read_agent_card(current.agent_id, current.installed_version)
    except PlatformError as error:
        if error.code is not ErrorCode.FORBIDDEN:
            raise
    declined = {one.id for one in before.card.permissions} if before is not None else set[str]()
    declined -= set(current.accepted_permissions)
    accepted = list(accept) or [one.id for one in card.permissions if one.id not in declined]
    require_declared(card, accepted)
    return _Upgrade(current, chosen, card, before, accepted)


async def _show(platform: InWorkspace, found: _Upgrade) -> None:
    if platform.out.json:
        return  # it is a note for people
    lines: list[Line] = [styled((found.title, "bold"))]
    if found.before is None:
        lines.append("You may not read the Card of the installed version any more, so there is no difference to show.")
    else:
        old, new = msgspec.json.decode(found.before.body), msgspec.json.decode(found.chosen.card)
        lines += await _difference_lines(platform, found.current, old, new)
    platform.out.note(*lines, *permission_lines(found.card, found.accepted))


async def _difference_lines(platform: InWorkspace, current: Installation, old: Any, new: Any) -> list[Line]:
    """Without answers an owner can still upgrade; a note says that there are none."""
    compared = platform.client.read_agent_compatibility(
        current.agent_id, new["version"], from_version=current.installed_version
    )
    try:
        skills = (await platform.waiting("comparing the versions", compared)).skills
    except PlatformError as error:
        if error.code not in UNAVAILABLE:
            raise
        unknown = styled((f"whether old inputs stay valid is not known: {error.message}", "yellow"))
        return [*CardDifference.between(old, new, ()).lines(), unknown]
    return CardDifference.between(old, new, skills).lines()


async def _replace(platform: InWorkspace, found: _Upgrade, to: str | None) -> None:
    current = found.current
    with platform.hinting(CONFLICT="the Installation changed meanwhile; `aop installations` shows what is there now"):
        made = await platform.client.install_agent(
            platform.workspace_id,
            current.agent_id,
            to or found.chosen.version,
            accepted_permissions=found.accepted,
            replaces=current.installation_id,
        )
    platform.out.tell(made, *installed_lines(made))
    if made.installed_version != found.chosen.version:
        platform.out.note(f"note: {made.installed_version} was chosen, not {found.chosen.version}")


def _question(found: _Upgrade) -> str:
    if found.newly_accepted:
        return f"Upgrade {found.title} and accept {', '.join(found.newly_accepted)} too?"
    return f"Upgrade {found.title}? It gets no new permission."


def _require_enabled(current: Installation) -> None:
    if current.status is not InstallationStatus.ENABLED:
        raise CommandProblem(
            f"{current.agent_id} is {current.status}; only an enabled Installation is upgraded",
            code="CONFLICT",
            recovery=f"aop enable {current.agent_id}, then aop upgrade {current.agent_id}",
        )


def _is_newer(chosen: CatalogEntry, current: Installation) -> bool:
    return Version.parse(chosen.version).rank > Version.parse(current.installed_version).rank
