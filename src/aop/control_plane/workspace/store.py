"""SQL of Workspaces and Installations; facts of the Registry come from the Registry's own query."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.contracts.workspace import InstallationStatus
from aop.control_plane.registry.pins import CARD_SIZES, PINNED_VERSION, PinRow
from aop.store.database import Connection
from aop.store.rows import PageSize, Row, RowPage, fetch_page, to_row, to_row_or_none, to_rows

Position = tuple[datetime, str]

_WORKSPACE = "SELECT workspace_id, owner_id, created_at, updated_at FROM workspace.workspace"
_COLUMNS = (
    "installation_id, installation.workspace_id, installation.agent_id, version_constraint, installed_version,"
    " installed_release_id, accepted_permissions, status, installed_at, installation.updated_at, uninstalled_at"
)
# An item shows less of a Card than the Card has bytes, and the Cards of a page may have to be read. One that is gone
# weighs nothing here; whoever reads it says so.
_ITEMS = (
    f"SELECT {_COLUMNS}, installed_card_digest, 512 + length(version_constraint)"  # noqa: S608
    " + octet_length(array_to_string(accepted_permissions, ' , ')) + coalesce(card.document_bytes, 0) AS weight"
    f" FROM %s AS installation LEFT JOIN ({CARD_SIZES}) AS card"
    " ON card.agent_id = installation.agent_id AND card.version = installed_version"
)
_PAGE_ORDER = "installed_at, installation_id"
_STATES = (
    "SELECT request.place, workspace.owner_id, installation.installation_id, installation.status,"  # noqa: S608
    " installation.installed_version, installation.installed_release_id, installation.installed_card_digest,"
    " installation.accepted_permissions,"
    " pinned.agent_id, pinned.version, pinned.digest, pinned.card_status, pinned.release_id, pinned.release_state,"
    " pinned.release_digest"
    " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS request (workspace_id, agent_id, place)"
    ' JOIN workspace.workspace ON workspace.workspace_id = request.workspace_id COLLATE "C"'
    " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
    " AND installation.agent_id = request.agent_id COLLATE \"C\" AND installation.status <> 'uninstalled'"
    f" LEFT JOIN ({PINNED_VERSION}) AS pinned ON pinned.agent_id = installation.agent_id"
    " AND pinned.version = installation.installed_version"
)
_INSTALLATION_START, _PIN_START = 2, 8
"""The first columns of `_STATES` that belong to each."""


class WorkspaceRow(Row, frozen=True):
    workspace_id: str
    owner_id: str
    created_at: datetime
    updated_at: datetime


class InstallPlace(Row, frozen=True):
    """The owner of a Workspace, and whether the Agent is installed there now."""

    owner_id: str
    installed: bool


class InstallationRow(Row, frozen=True):
    installation_id: str
    workspace_id: str
    agent_id: str
    version_constraint: str
    installed_version: str
    installed_release_id: str
    accepted_permissions: tuple[str, ...]
    status: InstallationStatus
    installed_at: datetime
    updated_at: datetime
    uninstalled_at: datetime | None


class InstallationItemRow(InstallationRow, frozen=True):
    installed_card_digest: str


class NewInstallation(msgspec.Struct, frozen=True):
    installation_id: str
    workspace_id: str
    agent_id: str
    version_constraint: str
    installed_version: str
    installed_release_id: str
    installed_card_digest: str
    accepted_permissions: Sequence[str]
    installed_at: datetime


class OwnedInstallation(msgspec.Struct, frozen=True):
    """The owner of a Workspace, and the Installation that was looked up in it."""

    owner_id: str
    installation: InstallationRow | None


class CurrentInstallation(Row, frozen=True):
    installation_id: str
    status: InstallationStatus
    version: str
    release_id: str
    card_digest: str
    accepted_permissions: tuple[str, ...]


class InstallationStateRow(msgspec.Struct, frozen=True):
    """All parts are of the same moment; `pin` is None when the Registry does not have the installed version."""

    owner_id: str
    installation: CurrentInstallation | None
    pin: PinRow | None


async def insert_workspace(
    connection: Connection, workspace_id: str, owner_id: str, now: datetime
) -> WorkspaceRow | None:
    """None when the id is taken, also when another transaction has just taken it."""
    record = await connection.fetchrow(
        "INSERT INTO workspace.workspace (workspace_id, owner_id, created_at, updated_at) VALUES ($1, $2, $3, $3)"
        " ON CONFLICT DO NOTHING RETURNING workspace_id, owner_id, created_at, updated_at",
        workspace_id,
        owner_id,
        now,
    )
    return to_row_or_none(WorkspaceRow, record)


async def workspace(connection: Connection, workspace_id: str) -> WorkspaceRow | None:
    return to_row_or_none(
        WorkspaceRow, await connection.fetchrow(f"{_WORKSPACE} WHERE workspace_id = $1", workspace_id)
    )


async def workspaces_of(
    connection: Connection, owner_id: str, after: Position | None, limit: int
) -> Sequence[WorkspaceRow]:
    behind = "" if after is None else " AND (created_at, workspace_id) > ($3, $4)"
    records = await connection.fetch(
        f"{_WORKSPACE} WHERE owner_id = $1{behind} ORDER BY created_at, workspace_id LIMIT $2",
        owner_id,
        limit,
        *(after or ()),
    )
    return to_rows(WorkspaceRow, records)


async def place_for(connection: Connection, workspace_id: str, agent_id: str) -> InstallPlace | None:
    record = await connection.fetchrow(
        "SELECT owner_id, EXISTS (SELECT FROM workspace.installation WHERE installation.workspace_id = $1"
        " AND agent_id = $2 AND status <> 'uninstalled') AS installed"
        " FROM workspace.workspace WHERE workspace_id = $1",
        workspace_id,
        agent_id,
    )
    return to_row_or_none(InstallPlace, record)


async def insert_installation(connection: Connection, installation: NewInstallation) -> InstallationRow | None:
    """None when the Agent is installed there already, also when another transaction has just done so."""
    record = await connection.fetchrow(
        "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"  # noqa: S608
        " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at,"
        " updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)"
        " ON CONFLICT (workspace_id, agent_id) WHERE status <> 'uninstalled' DO NOTHING"
        f" RETURNING {_COLUMNS}",
        *msgspec.structs.astuple(installation),
    )
    return to_row_or_none(InstallationRow, record)


async def find_installation(
    connection: Connection, workspace_id: str, installation_id: str
) -> OwnedInstallation | None:
    """None when there is no such Workspace."""
    record = await connection.fetchrow(
        f"SELECT workspace.owner_id, {_COLUMNS} FROM workspace.workspace"  # noqa: S608
        " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
        " AND installation_id = $2 WHERE workspace.workspace_id = $1",
        workspace_id,
        installation_id,
    )
    if record is None:
        return None
    owner_id, *columns = record
    return OwnedInstallation(owner_id, None if columns[0] is None else to_row(InstallationRow, columns))


async def installations_of(
    connection: Connection, workspace_id: str, after: Position | None, size: PageSize
) -> RowPage[InstallationItemRow]:
    behind = "" if after is None else " AND (installed_at, installation_id) > ($3, $4)"
    # Limited before the Cards are joined: a page costs the same in a large Workspace.
    page = f"SELECT * FROM workspace.installation WHERE workspace_id = $1{behind} ORDER BY {_PAGE_ORDER} LIMIT $2"  # noqa: S608
    query = _ITEMS % f"({page})"
    values = (workspace_id, size.rows, *(after or ()))
    return await fetch_page(connection, InstallationItemRow, query, values, size=size, order=_PAGE_ORDER)


async def move(
    connection: Connection, installation_id: str, sources: Sequence[str], target: str, now: datetime
) -> InstallationRow | None:
    """None when the Installation is in none of the source states any more. Its time always moves forward."""
    record = await connection.fetchrow(
        "UPDATE workspace.installation SET status = $3,"  # noqa: S608
        " updated_at = greatest($4, updated_at + interval '1 microsecond'),"
        " uninstalled_at = CASE WHEN $3 = 'uninstalled' THEN greatest($4, updated_at + interval '1 microsecond') END"
        f" WHERE installation_id = $1 AND status = ANY($2) RETURNING {_COLUMNS}",
        installation_id,
        sources,
        target,
        now,
    )
    return to_row_or_none(InstallationRow, record)


async def installation_states(
    connection: Connection, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], InstallationStateRow]:
    """Reads what decides whether each Agent may run in its Workspace, in one snapshot, by Workspace and Agent."""
    records = await connection.fetch(_STATES, *map(list, zip(*keys, strict=True)))
    return {keys[record[0] - 1]: _state(tuple(record)) for record in records}


def _state(columns: tuple[Any, ...]) -> InstallationStateRow:
    _, owner_id, installation_id, *_ = columns
    if installation_id is None:
        return InstallationStateRow(owner_id, None, None)
    pin = columns[_PIN_START:]
    return InstallationStateRow(
        owner_id,
        to_row(CurrentInstallation, columns[_INSTALLATION_START:_PIN_START]),
        None if pin[0] is None else to_row(PinRow, pin),
    )
