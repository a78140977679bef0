"""`aop agent list`: every Agent that one owns, with the state of its newest version and Release."""

from aop.cli.shell import options
from aop.cli.shell.output import Cell, status
from aop.cli.shell.platform import Platform
from aop.contracts.catalog import OwnedAgent


@options.limit(50)
async def list_agents(platform: Platform, limit: int) -> None:
    """Over all providers, in the order of their ids; drafts and disabled versions count too. --json has every version.

    Example: aop agent list
    """
    headings = ["agent", "name", "provider", "versions", "newest", "state", "newest release", "release state"]
    await platform.tell_list(platform.client.list_my_agents(), limit, _row, headings, nothing="you own no Agent")


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
