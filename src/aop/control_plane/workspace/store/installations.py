"""SQL of Installations; facts of the Registry come from the Registry's own query."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.contracts.wire import to_document, to_document_or_none
from aop.contracts.workspace import Installation, InstallationStatus, WorkspaceRole
from aop.control_plane.pages import TimePosition
from aop.control_plane.registry.pins import CARD_SIZES, PINNED_VERSION, PinnedCard, PinRow
from aop.control_plane.workspace.store.workspaces import role_in, role_of
from aop.store.database import Connection
from aop.store.rows import PageSize, Row, RowPage, to_row, to_row_or_none, weighed

StateKey = tuple[str, str, str | None]
"""Workspace, Agent, and the principal that calls, or None where no caller's right is asked for."""
StateColumns = tuple[Any, ...]
"""A row as it was read; `state_row` says what it means."""

_COLUMNS = (
    "installation_id, installation.workspace_id, installation.agent_id, version_constraint, installed_version,"
    " installed_release_id, accepted_permissions, status, installed_at, installation.updated_at, uninstalled_at,"
    " replaced_by"
)
# An item shows less of a Card than the Card has bytes, and the Cards of a page may have to be read. One that is gone
# weighs nothing here; the reader of the Card says so.
_ITEMS = (
    f"SELECT {_COLUMNS}, installed_card_digest, 512 + length(version_constraint)"  # noqa: S608
    " + octet_length(array_to_string(accepted_permissions, ' , ')) + coalesce(card.document_bytes, 0) AS weight"
    f" FROM %s AS installation LEFT JOIN ({CARD_SIZES}) AS card"
    " ON card.agent_id = installation.agent_id AND card.version = installed_version"
)
_PAGE_ORDER = "installed_at, installation_id"
STATE_COLUMNS = (
    "installation.installed_version, installation.installed_release_id, installation.installed_card_digest,"
    " installation.accepted_permissions,"
    " pinned.agent_id, pinned.version, pinned.digest, pinned.card_status, pinned.release_id, pinned.release_state,"
    " pinned.release_digest, pinned.binding_id, pinned.method, pinned.evidence_digest, pinned.published_at"
)
"""What `state_row` reads after the role, the Installation's id and its status."""
_CALLING = 'request.principal_id COLLATE "C"'
_CURRENT = (
    " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
    " AND installation.agent_id = %s AND installation.status <> 'uninstalled'"
    f" LEFT JOIN ({PINNED_VERSION}) AS pinned ON pinned.agent_id = installation.agent_id"
    " AND pinned.version = installation.installed_version"
)
# Inside a SELECT the length of the arrays is not known when the statement is planned, so one plan is as good as another
# and the first is kept. Otherwise each call is planned anew, which costs seven times what the call itself does.
_KEYS = "unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]))"
_STATES = (
    f"SELECT request.place, {role_of(_CALLING)},"  # noqa: S608
    f" installation.installation_id, installation.status, {STATE_COLUMNS}"
    f" FROM {_KEYS} WITH ORDINALITY AS request (workspace_id, agent_id, principal_id, place)"
    ' JOIN workspace.workspace ON workspace.workspace_id = request.workspace_id COLLATE "C"'
    + _CURRENT
    % 'request.agent_id COLLATE "C"'
)
# A lone call: without arrays the same read takes PostgreSQL three quarters of the time.
_STATE_OF_ONE = (
    f"SELECT {role_of('$3')}, installation.installation_id, installation.status, {STATE_COLUMNS}"  # noqa: S608
    f" FROM workspace.workspace{_CURRENT % '$2'} WHERE workspace.workspace_id = $1"
)
_INSTALLATION_START, _PIN_START = 1, 7
"""The first columns of a state that belong to each."""


class InstallPlace(Row, frozen=True):
    """What a principal is to a Workspace, and whether the Agent is installed there now."""

    role: WorkspaceRole | None
    installed: bool


class PinnedInstallation(Row, frozen=True):
    """An Installation, and the Card that it pins."""

    installation: Installation
    card: PinnedCard


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


class InstallationCounts(Row, frozen=True):
    enabled: int
    disabled: int


class InstallationAccess(msgspec.Struct, frozen=True):
    """What a principal is to a Workspace, and the Installation there that has an id, if one has it."""

    role: WorkspaceRole | None
    installation: Installation | None


class CurrentInstallation(Row, frozen=True):
    installation_id: str
    status: InstallationStatus
    version: str
    release_id: str
    card_digest: str
    accepted_permissions: tuple[str, ...]


class InstallationStateRow(msgspec.Struct, frozen=True):
    """All parts are of the same moment; `pin` is None when the Registry does not have the installed version."""

    role: WorkspaceRole | None
    installation: CurrentInstallation | None
    pin: PinRow | None


async def place_for(connection: Connection, workspace_id: str, principal: str, agent_id: str) -> InstallPlace | None:
    record = await connection.fetchrow(
        f"SELECT {role_of('$2')}, EXISTS (SELECT FROM workspace.installation"  # noqa: S608
        " WHERE installation.workspace_id = $1 AND agent_id = $3 AND status <> 'uninstalled') AS installed"
        " FROM workspace.workspace WHERE workspace_id = $1",
        workspace_id,
        principal,
        agent_id,
    )
    return to_row_or_none(InstallPlace, record)


async def insert_installation(connection: Connection, installation: NewInstallation) -> Installation | None:
    """None when the Agent is installed there already, also when another transaction has just done so."""
    record = await connection.fetchrow(
        "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"  # noqa: S608
        " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at,"
        " updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)"
        " ON CONFLICT (workspace_id, agent_id) WHERE status <> 'uninstalled' DO NOTHING"
        f" RETURNING {_COLUMNS}",
        *msgspec.structs.astuple(installation),
    )
    return to_document_or_none(Installation, record)


async def find_installation(
    connection: Connection, workspace_id: str, principal: str, installation_id: str
) -> InstallationAccess | None:
    """None when there is no such Workspace."""
    record = await connection.fetchrow(
        f"SELECT {role_of('$2')}, {_COLUMNS} FROM workspace.workspace"  # noqa: S608
        " LEFT JOIN workspace.installation ON installation.workspace_id = workspace.workspace_id"
        " AND installation_id = $3 WHERE workspace.workspace_id = $1",
        workspace_id,
        principal,
        installation_id,
    )
    if record is None:
        return None
    installation = None if record["installation_id"] is None else to_document(Installation, record)
    return InstallationAccess(role_in(record), installation)


async def installations_of(
    connection: Connection, workspace_id: str, after: TimePosition | None, size: PageSize
) -> RowPage[PinnedInstallation]:
    later = "" if after is None else " AND (installed_at, installation_id) > ($3, $4)"
    # Limited before the Cards are joined: a page costs the same in a large Workspace.
    page = f"SELECT * FROM workspace.installation WHERE workspace_id = $1{later} ORDER BY {_PAGE_ORDER} LIMIT $2"  # noqa: S608
    query = _ITEMS % f"({page})"
    values = (workspace_id, size.rows, *(after or ()))
    records = await connection.fetch(weighed(query, size=size, order=_PAGE_ORDER), *values)
    rows = [
        PinnedInstallation(
            to_document(Installation, record),
            PinnedCard(record["agent_id"], record["installed_version"], record["installed_card_digest"]),
        )
        for record in records[: size.limit]
    ]
    return RowPage(rows, records[0]["found"] if records else 0)


async def count_of_release(connection: Connection, release_id: str) -> InstallationCounts:
    """Of the current ones that pin this Release, from the index alone."""
    record = await connection.fetchrow(
        "SELECT count(*) FILTER (WHERE status = 'enabled'), count(*) FILTER (WHERE status = 'disabled')"
        " FROM workspace.installation WHERE installed_release_id = $1 AND status <> 'uninstalled'",
        release_id,
    )
    return to_row(InstallationCounts, record)


async def move(
    connection: Connection, installation_id: str, sources: Sequence[str], target: str, now: datetime
) -> Installation | None:
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
    return to_document_or_none(Installation, record)


async def installation_states(connection: Connection, keys: Sequence[StateKey]) -> dict[StateKey, StateColumns]:
    """Reads what decides whether each Agent may run in its Workspace for the principal, in one snapshot."""
    if len(keys) == 1:
        record = await connection.fetchrow(_STATE_OF_ONE, *keys[0])
        return {} if record is None else {keys[0]: tuple(record)}
    records = await connection.fetch(_STATES, *map(list, zip(*keys, strict=True)))
    return {keys[record[0] - 1]: tuple(record)[1:] for record in records}


def state_row(columns: StateColumns) -> InstallationStateRow:
    role, installation_id, *_ = columns
    if installation_id is None:
        return InstallationStateRow(_role(role), None, None)
    pin = columns[_PIN_START:]
    return InstallationStateRow(
        _role(role),
        to_row(CurrentInstallation, columns[_INSTALLATION_START:_PIN_START]),
        None if pin[0] is None else to_row(PinRow, pin),
    )


def _role(text: str | None) -> WorkspaceRole | None:
    return None if text is None else WorkspaceRole(text)
