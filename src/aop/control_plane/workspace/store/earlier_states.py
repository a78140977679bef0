"""The short read of a state that was read before: all that can change of it, in one snapshot.

Nothing of a Workspace can change. Of an Installation and of a Release only what is read here can: the triggers
`workspace_kept`, `installation_immutable` and `release_immutable` see to it, and a unit that does not find them is not
ready. So ids, states and digests are read for every call. What an Installation or a Release has for good, it has as
long as these are the same.
"""

from operator import itemgetter
from typing import Any

import msgspec

from aop.control_plane.registry.pins import PINNED_VERSION
from aop.control_plane.workspace.store.installations import StateColumns, StateKey
from aop.store.database import Connection
from aop.store.kept_statement import KeptStatement

_CHANGEABLE = (
    "SELECT installation.installation_id, installation.status, installation.installed_release_id,"  # noqa: S608
    " installation.installed_card_digest, pinned.digest, pinned.card_status, pinned.release_id, pinned.release_state,"
    f" pinned.release_digest%s FROM workspace.installation CROSS JOIN ({PINNED_VERSION}) AS pinned"
    " WHERE installation.workspace_id = $1 AND installation.agent_id = $2 AND installation.status <> 'uninstalled'"
    " AND pinned.agent_id = $2 AND pinned.version = $3"
)
_ROLE = (
    ", (SELECT 'caller' FROM workspace.caller"
    " WHERE caller.workspace_id = $1 AND caller.principal_id = $4 AND caller.removed_at IS NULL)"
)
_changeable = itemgetter(1, 2, 4, 5, 9, 10, 11, 12, 13)
"""The same columns of a state."""


class EarlierState(msgspec.Struct, frozen=True):
    """Where to read what can change of a state, and what was there."""

    keys: tuple[str, ...]
    changeable: tuple[Any, ...]
    for_caller: bool

    @classmethod
    def of(cls, key: StateKey, columns: StateColumns) -> "EarlierState | None":
        """None without an Installation, or for a principal without a role in the Workspace."""
        workspace_id, agent_id, principal = key
        role, version = columns[0], columns[3]
        if version is None or (role is None and principal is not None):
            return None
        keys, changeable = (workspace_id, agent_id, version), _changeable(columns)
        if role == "caller" and principal is not None:
            return cls((*keys, principal), (*changeable, role), for_caller=True)
        return cls(keys, changeable, for_caller=False)  # its owner stays its owner


class ShortReads:
    """One read at a time."""

    def __init__(self) -> None:
        self._for_owner = KeptStatement(_CHANGEABLE % "")
        self._for_caller = KeptStatement(_CHANGEABLE % _ROLE)

    async def is_unchanged(self, connection: Connection, earlier: EarlierState) -> bool:
        statement = self._for_caller if earlier.for_caller else self._for_owner
        record = await statement.fetchrow(connection, *earlier.keys)
        return record is not None and tuple(record) == earlier.changeable
