"""`aop share`: the public link of an Agent, and what anyone may read behind it."""

import re

import click
import msgspec

from aop.cli.output import Line, moment, styled, table
from aop.cli.platform import Platform
from aop.contracts.catalog import Availability

_PUBLIC_ID = re.compile(r"(?:.*/a/)?(agt_[0-9a-f]{32})")


@click.argument("agent", metavar="AGENT", help="An Agent id, a public id, or a public link.")
async def share(platform: Platform, agent: str) -> None:
    """The link never shows an endpoint, and gives nobody any right.

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
