"""SQL of Workspaces and Installations; the Registry's facts come from the Registry's own query."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aop.control_plane.registry.pins import PINNED_VERSION
from aop.store.database import Connection, weighed

Row = Any
Position = tuple[datetime, str]

_WORKSPACE = "SELECT workspace_id, owner_id, created_at, updated_at FROM workspace.workspace"
_COLUMNS = (
    "installation_id, installation.workspace_id, agent_id, version_constraint, installed_version, installed_release_id,"
    " accepted_permissions, status, installed_at, installation.updated_at, uninstalled_at"
)
_PAGE = (
    f"SELECT {_COLUMNS},"  # noqa: S608
    " 512 + length(version_constraint) + octet_length(array_to_string(accepted_permissions, ' , ')) AS weight"
    " FROM workspace.installation WHERE workspace_id = $1"
)
_PAGE_ORDER = "installed_at, installation_id"
_STATES = (
    "SELECT asked.place, workspace.owner_id, installation.installation_id, installation.status,"  # noqa: S608
    " installation.installed_version, installation.installed_release_id, installation.installed_card_digest,"
    " installation.accepted_permissions,"
    " pinned.agent_id, pinned.version, pinned.digest, pinned.card_status, pinned.release_id, pinned.release_state,"
    " pinned.release_digest"
    " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (workspace_id, agent_id, place)"
    ' JOIN workspace.workspace ON workspace.workspace_id = asked.workspace_id COLLATE "C"'
    " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
    " AND installation.agent_id = asked.agent_id COLLATE \"C\" AND installation.status <> 'uninstalled'"
    f" LEFT JOIN ({PINNED_VERSION}) AS pinned ON pinned.agent_id = installation.agent_id"
    " AND pinned.version = installation.installed_version"
)


async def insert_workspace(connection: Connection, workspace_id: str, owner_id: str, now: datetime) -> Row:
    """None when the id is taken, also when another transaction has just taken it."""
    return await connection.fetchrow(
        "INSERT INTO workspace.workspace (workspace_id, owner_id, created_at, updated_at) VALUES ($1, $2, $3, $3)"
        " ON CONFLICT DO NOTHING RETURNING workspace_id, owner_id, created_at, updated_at",
        workspace_id,
        owner_id,
        now,
    )


async def workspace(connection: Connection, workspace_id: str) -> Row:
    return await connection.fetchrow(f"{_WORKSPACE} WHERE workspace_id = $1", workspace_id)


async def workspaces_of(connection: Connection, owner_id: str, after: Position | None, limit: int) -> Sequence[Row]:
    behind = "" if after is None else " AND (created_at, workspace_id) > ($3, $4)"
    rows: Sequence[Row] = await connection.fetch(
        f"{_WORKSPACE} WHERE owner_id = $1{behind} ORDER BY created_at, workspace_id LIMIT $2",
        owner_id,
        limit,
        *(after or ()),
    )
    return rows


async def place_for(connection: Connection, workspace_id: str, agent_id: str) -> Row:
    """The Workspace's owner, and whether the Agent is installed there now."""
    return await connection.fetchrow(
        "SELECT owner_id, EXISTS (SELECT FROM workspace.installation WHERE installation.workspace_id = $1"
        " AND agent_id = $2 AND status <> 'uninstalled') AS installed"
        " FROM workspace.workspace WHERE workspace_id = $1",
        workspace_id,
        agent_id,
    )


async def insert_installation(connection: Connection, values: Sequence[Any]) -> Row:
    """None when the Agent is installed there already, also when another transaction has just done so."""
    return await connection.fetchrow(
        "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"  # noqa: S608
        " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at,"
        " updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)"
        " ON CONFLICT (workspace_id, agent_id) WHERE status <> 'uninstalled' DO NOTHING"
        f" RETURNING {_COLUMNS}",
        *values,
    )


async def installation(connection: Connection, workspace_id: str, installation_id: str) -> Row:
    """None without such a Workspace; a row without an Installation when it has no such one."""
    return await connection.fetchrow(
        f"SELECT workspace.owner_id, {_COLUMNS} FROM workspace.workspace"  # noqa: S608
        " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
        " AND installation_id = $2 WHERE workspace.workspace_id = $1",
        workspace_id,
        installation_id,
    )


async def installations_of(
    connection: Connection, workspace_id: str, after: Position | None, page: tuple[int, int]
) -> Sequence[Row]:
    limit, most = page
    behind = "" if after is None else " AND (installed_at, installation_id) > ($3, $4)"
    query = f"{_PAGE}{behind} ORDER BY {_PAGE_ORDER} LIMIT $2"
    rows: Sequence[Row] = await connection.fetch(
        weighed(query, weight="weight", order=_PAGE_ORDER, max_bytes=most), workspace_id, limit, *(after or ())
    )
    return rows


async def move(connection: Connection, installation_id: str, sources: Sequence[str], target: str, now: datetime) -> Row:
    """None when the Installation is in none of the source states any more. Its time always moves forward."""
    return await connection.fetchrow(
        "UPDATE workspace.installation SET status = $3,"  # noqa: S608
        " updated_at = greatest($4, updated_at + interval '1 microsecond'),"
        " uninstalled_at = CASE WHEN $3 = 'uninstalled' THEN greatest($4, updated_at + interval '1 microsecond') END"
        f" WHERE installation_id = $1 AND status = ANY($2) RETURNING {_COLUMNS}",
        installation_id,
        sources,
        target,
        now,
    )


async def installation_states(connection: Connection, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
    """Everything that decides whether each Agent may run in its Workspace, in one snapshot; by Workspace and Agent."""
    rows = await connection.fetch(_STATES, *map(list, zip(*asked, strict=True)))
    return {asked[row["place"] - 1]: row for row in rows}
