"""`aop agent list`: every Agent that one owns, with the state of its newest version and Release."""

from aop.cli.shell import options
from aop.cli.shell.output import Cell, status, table
from aop.cli.shell.platform import Platform, first
from aop.contracts.catalog import OwnedAgent


@options.limit(50)
async def list_agents(platform: Platform, limit: int) -> None:
    """Over all providers, in the order of their ids; drafts and disabled versions count too. --json has every version.

    Example: aop agent list
    """
    found, more = await first(platform.client.list_my_agents(), limit)
    rows = [_row(one) for one in found]
    heads = ["agent", "name", "provider", "versions", "newest", "state", "newest release", "release state"]
    platform.out.tell({"items": found}, *(table(heads, rows) if rows else ["you own no Agent"]))
    if more:
        platform.out.note(f"there are more: --limit shows more than {limit}")


def _row(agent: OwnedAgent) -> tuple[Cell, ...]:
    newest, counts, release = agent.versions[0], agent.version_counts, agent.newest_release
    return (
        agent.agent_id,
        agent.name,
        agent.provider_id or "",
        str(counts.draft + counts.published + counts.disabled),
        newest.version,
        status(newest.publication_status),
        "" if release is None else release.version,
        "" if release is None else status(release.state),
    )
