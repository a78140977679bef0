"""SQL of what permitted past calls: the Installations that a Workspace ever had of an Agent's version."""

from collections.abc import Sequence

from aop.control_plane.registry.pins import PINNED_VERSION
from aop.control_plane.workspace.store.installations import STATE_COLUMNS, InstallationStateRow, state_row
from aop.store.database import Connection

_EVER = (
    f"SELECT NULL, installation.installation_id, installation.status, {STATE_COLUMNS}"  # noqa: S608
    " FROM workspace.installation"
    f" LEFT JOIN ({PINNED_VERSION}) AS pinned ON pinned.agent_id = installation.agent_id"
    " AND pinned.version = installation.installed_version"
    " WHERE installation.workspace_id = $1 AND installation.agent_id = $2 AND installation.installed_version = $3"
)


async def installations_ever(
    connection: Connection, workspace_id: str, agent_id: str, version: str
) -> Sequence[InstallationStateRow]:
    """Also those that were uninstalled or replaced."""
    rows = await connection.fetch(_EVER, workspace_id, agent_id, version)
    return [state_row(tuple(row)) for row in rows]
