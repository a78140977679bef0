"""`aop install`: shows what an Agent asks for, and installs it with what is accepted."""

from collections.abc import Sequence

import click
import msgspec

from aop.base.semver import Version
from aop.base.semver_range import Range, RangeSyntax
from aop.cli.shell.dev_version import is_development
from aop.cli.shell.installed import name_warnings, permission_lines
from aop.cli.shell.output import Line, facts, status, styled
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry
from aop.contracts.workspace import Installation


@click.argument("agent", metavar="AGENT", help="The Agent's id.")
@click.option("--version", metavar="RANGE", help="A version or range like ^1.2; default: the newest installable.")
@click.option("--accept", metavar="PERMISSION", multiple=True, help="Accept only this permission; can be repeated.")
@click.option("--yes", "-y", is_flag=True, help="Accept the permissions without a question.")
async def install(platform: InWorkspace, agent: str, version: str | None, accept: tuple[str, ...], yes: bool) -> None:
    """The permissions that the Agent asks for are shown first. You can accept fewer: Skills that need the others are
    refused.

    The Installation stays on this exact Release until `aop upgrade` moves it to another version.

    Example: aop install aop:summarizer
    Example: aop install aop:summarizer --version ^1.0 --accept text.read --yes
    """
    chosen = await platform.waiting("reading the Card", chosen_version(platform, agent, "--version", version))
    card = msgspec.json.decode(chosen.card, type=AgentCard)
    accepted = [permission.id for permission in card.permissions] if not accept else list(accept)
    require_declared(card, accepted)
    overview = await platform.client.read_agent_overview(agent, limit=1)
    out = platform.out
    out.note(styled((f"{card.agent_id} {card.version}", "bold"), f"  {card.name}"))
    out.note(styled(f"owner {card.owner.id}, shown as {card.owner.display_name}"), *name_warnings(overview, card))
    out.note(*permission_lines(card, accepted))
    out.note(f"It may call any Skill that the Workspace {platform.workspace_id} may use.")
    out.require_yes(yes, _question(accepted), "nothing was installed")
    already = f"it is installed already; `aop upgrade {agent}` moves it to another version"
    with platform.hinting(CONFLICT=already):
        made = await platform.client.install_agent(
            platform.workspace_id, agent, version or chosen.version, accepted_permissions=accepted
        )
    out.tell(made, *installed_lines(made))
    if made.installed_version != chosen.version:
        out.note(f"note: {made.installed_version} was chosen, not {chosen.version}; look at it with aop agent show")


def installed_lines(made: Installation) -> list[Line]:
    return facts(
        ("installed", f"{made.agent_id} {made.installed_version} in the Workspace {made.workspace_id}"),
        ("status", status(made.status)),
        ("installation", made.installation_id),
        ("release", made.installed_release_id),
        ("accepted", ", ".join(made.accepted_permissions) or "no permissions"),
    )


async def chosen_version(platform: InWorkspace, agent: str, option: str, version: str | None) -> CatalogEntry:
    """The version the platform will choose, as far as the caller can see: the highest in the range that the option
    names."""
    entries = [entry async for entry in platform.client.list_agent_versions(agent) if entry.release is not None]
    try:
        wanted = None if version is None else Range.parse(version)
    except RangeSyntax:
        raise UsageProblem(
            f"{option} {version!r} is not a version or a range", "for example 1.2.0, ^1.2 or >=1 <3"
        ) from None
    if wanted is None:
        entries = [entry for entry in entries if entry.installable]
        # What somebody still works on is chosen by its version, or where there is nothing else.
        entries = [entry for entry in entries if not is_development(entry.version)] or entries
    else:
        entries = [entry for entry in entries if wanted.permits(Version.parse(entry.version))]
    if not entries:
        raise CommandProblem(
            f"{agent} has no installable version" + ("" if version is None else f" in the range {version}"),
            code="NOT_FOUND",
            recovery=f"aop agent show {agent} lists its versions",
        )
    return max(entries, key=lambda entry: Version.parse(entry.version).rank)


def require_declared(card: AgentCard, accepted: Sequence[str]) -> None:
    declared = {permission.id for permission in card.permissions}
    unknown = [name for name in accepted if name not in declared]
    if unknown:
        raise UsageProblem(
            f"{card.agent_id} {card.version} does not ask for {', '.join(unknown)}",
            f"it asks for {', '.join(sorted(declared)) or 'no permission'}",
        )


def _question(accepted: Sequence[str]) -> str:
    return f"Install it and accept {', '.join(accepted)}?" if accepted else "Install it? It gets no permission."
