"""SQL of replaced Installations: the step itself, and what a call authorized before it is resolved with."""

from datetime import datetime

import msgspec

from aop.contracts.workspace import Installation
from aop.control_plane.registry.pins import PINNED_VERSION
from aop.control_plane.workspace.store.installations import (
    STATE_COLUMNS,
    InstallationStateRow,
    NewInstallation,
    insert_installation,
    state_row,
)
from aop.store.database import Connection

# The one of this version that was replaced last, and the line of those that took its place one after another. All but
# the last of them were replaced after the first: the line is as long as there were replacements in that time.
_REPLACED = (
    "WITH RECURSIVE replaced AS (SELECT * FROM workspace.installation"  # noqa: S608
    "  WHERE workspace_id = $1 AND agent_id = $2 AND installed_version = $3 AND replaced_by IS NOT NULL"
    "  AND uninstalled_at > $4 ORDER BY uninstalled_at DESC LIMIT 1),"
    " line AS (SELECT replaced_by AS installation_id FROM replaced UNION ALL SELECT successor.replaced_by"
    "  FROM line JOIN workspace.installation AS successor USING (installation_id)"
    "  WHERE successor.replaced_by IS NOT NULL)"
    " SELECT NULL, installation.installation_id, successor.status,"
    f" {STATE_COLUMNS}"
    " FROM replaced AS installation"
    " CROSS JOIN line JOIN workspace.installation AS successor"
    "  ON successor.installation_id = line.installation_id AND successor.status = 'enabled'"
    f" LEFT JOIN ({PINNED_VERSION}) AS pinned ON pinned.agent_id = installation.agent_id"
    " AND pinned.version = installation.installed_version"
)


async def replace(connection: Connection, replaced_id: str, new: NewInstallation) -> Installation | None:
    """Uninstalls one and adds the other, in the caller's transaction; None when the first is not enabled any more.

    The update holds the row until the end, so that of several changes at once one succeeds.
    """
    moment = await connection.fetchval(
        "UPDATE workspace.installation SET status = 'uninstalled', replaced_by = $2,"
        " updated_at = greatest($3, updated_at + interval '1 microsecond'),"
        " uninstalled_at = greatest($3, updated_at + interval '1 microsecond')"
        " WHERE installation_id = $1 AND status = 'enabled' RETURNING uninstalled_at",
        replaced_id,
        new.installation_id,
        new.installed_at,
    )
    if moment is None:
        return None
    return await insert_installation(connection, msgspec.structs.replace(new, installed_at=moment))


async def replaced_state(
    connection: Connection, workspace_id: str, agent_id: str, version: str, since: datetime
) -> InstallationStateRow | None:
    """The one of this version that was replaced after `since`, if what stands in its place now is enabled."""
    record = await connection.fetchrow(_REPLACED, workspace_id, agent_id, version, since)
    return None if record is None else state_row(tuple(record))
