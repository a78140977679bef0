"""`aop search`: finds published Agents."""

from typing import Annotated

import typer

from aop.cli.output import table
from aop.cli.platform import Platform, first


async def search(
    platform: Platform,
    query: Annotated[str | None, typer.Argument(metavar="WORDS", help="Part of a name or description.")] = None,
    capability: Annotated[
        str | None, typer.Option("--capability", "-c", metavar="SKILL", help="With this Skill.")
    ] = None,
    owner: Annotated[str | None, typer.Option(metavar="ID", help="Of this owner.")] = None,
    all_versions: Annotated[bool, typer.Option("--all-versions", help="Every version, not just the latest.")] = False,
    any_state: Annotated[bool, typer.Option("--any", help="Also those without a published Release.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")] = 50,
) -> None:
    """Without words or filters, everything that can be installed, the newest first.

    Example: aop search meeting --capability extract-action-items
    """
    listing = platform.client.discover_agents(
        query,
        capability=capability,
        owner_id=owner,
        latest=None if all_versions else True,
        installable=None if any_state else True,
    )
    found, more = await platform.waiting("searching", first(listing, limit))
    rows = [(one.agent_id, one.version, ", ".join(skill.id for skill in one.skills), one.description) for one in found]
    lines = table(["agent", "version", "skills", "description"], rows, platform.out.fold) if rows else ["nothing found"]
    platform.out.tell({"items": found}, *lines)
    if more:
        platform.out.note(f"there are more: --limit shows more than {limit}")
