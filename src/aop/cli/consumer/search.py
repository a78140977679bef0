"""`aop search` and `aop share`: find published Agents, and show the public link of one."""

import re

import click
import msgspec

from aop.cli.shell import options
from aop.cli.shell.output import Cell, Line, moment, styled, table
from aop.cli.shell.platform import Platform
from aop.contracts.catalog import Availability, DiscoveryItem

_PUBLIC_ID = re.compile(r"(?:.*/a/)?(agt_[0-9a-f]{32})")


@click.argument(
    "query", metavar="[WORDS]", required=False, help="Words of names, ids, owner or description, in any order."
)
@click.option("--capability", "-c", metavar="SKILL", help="With this Skill.")
@click.option("--owner", metavar="ID", help="Of this owner.")
@click.option("--all-versions", is_flag=True, help="Every version, not just the latest.")
@click.option("--newest", is_flag=True, help="The newest first, not the best match.")
@click.option("--any", "any_state", is_flag=True, help="Also those without a published Release.")
@options.limit(50)
async def search(  # noqa: PLR0913, PLR0917  a command's options are its parameters
    platform: Platform,
    query: str | None,
    capability: str | None,
    owner: str | None,
    all_versions: bool,
    newest: bool,
    any_state: bool,
    limit: int,
) -> None:
    """The best match first; small mistakes are forgiven. Without words it lists what can be installed, newest first.

    Example: aop search meeting --capability extract-action-items
    Example: aop search "notes sumarize"
    """
    listing = platform.client.discover_agents(
        query,
        capability=capability,
        owner_id=owner,
        latest=None if all_versions else True,
        installable=None if any_state else True,
        order="newest" if newest else None,
    )
    headings = ["agent", "version", "skills", "description"]
    texts = {"nothing": "nothing found", "waiting": "searching"}
    await platform.tell_list(listing, limit, _row, headings, **texts, fold=platform.out.fold)


def _row(one: DiscoveryItem) -> tuple[Cell, ...]:
    return one.agent_id, one.version, ", ".join(skill.id for skill in one.skills), one.description


@click.argument("agent", metavar="AGENT", help="An Agent id, a public id, or a public link.")
async def share(platform: Platform, agent: str) -> None:
    """The page behind the link shows no endpoint and gives no rights.

    Example: aop share aop:summarizer
    """
    named = _PUBLIC_ID.fullmatch(agent)
    public_id = named[1] if named else (await platform.client.read_agent_overview(agent, limit=1)).public_agent_id
    found = await platform.client.read_public_agent(public_id, limit=1)
    releases = [one async for one in platform.client.list_shared_releases(public_id)]
    rows = [(one.agent_id, one.version, one.name, moment(one.published_at)) for one in releases]
    lines: list[Line] = [styled((found.public_url, "bold"))]
    if found.availability is Availability.INSTALLABLE:
        lines += ["anyone may see there:", *table(["agent", "version", "name", "published"], rows)]
    else:
        lines.append("nothing can be installed from there now: no version has a published Release")
    whole = msgspec.structs.replace(found, releases=tuple(releases), next_cursor=msgspec.UNSET)
    platform.out.tell(whole, *lines)
