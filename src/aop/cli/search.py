"""`aop search`: finds published Agents."""

import click

from aop.cli import options
from aop.cli.output import table
from aop.cli.platform import Platform, first


@click.argument("query", metavar="[WORDS]", required=False, help="Part of a name or description.")
@click.option("--capability", "-c", metavar="SKILL", help="With this Skill.")
@click.option("--owner", metavar="ID", help="Of this owner.")
@click.option("--all-versions", is_flag=True, help="Every version, not just the latest.")
@click.option("--any", "any_state", is_flag=True, help="Also those without a published Release.")
@options.limit(50)
async def search(
    platform: Platform,
    query: str | None,
    capability: str | None,
    owner: str | None,
    all_versions: bool,
    any_state: bool,
    limit: int,
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
