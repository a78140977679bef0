"""Stored heads, compared with the tree as it is now."""

from collections.abc import Sequence

from aop.contracts.ledger_tree import LedgerConsistency
from aop.ledger.check.tree import tree_breaches
from aop.ledger.tree import proofs
from aop.ledger.tree.nodes import Nodes
from aop.ledger.tree.reader import head_document
from aop.ledger.tree.store import HeadRow, newest_head
from aop.store.database import Connection


class HistoryChanged(Exception):
    """The tree, or the rows it stands on, are not those of a head."""


async def compared(connection: Connection, old: HeadRow, new: HeadRow | None) -> LedgerConsistency:
    """The proof that the newer head continues the older one, after the tree was made again from the rows."""
    newest = await newest_head(connection)
    new = new or newest
    if newest is None or new is None or max(old.size, new.size) > newest.size:
        raise HistoryChanged("the Ledger has fewer events than the head")
    if old.size > new.size:
        old, new = new, old
    await _require_rows(connection, new.size)
    for head in (old, new):
        await _require_root(connection, head)
    path = await proofs.consistency(Nodes(connection, newest.size), old.size, new.size)
    return LedgerConsistency(old=head_document(old), new=head_document(new), path=tuple(each.hex() for each in path))


async def continued(connection: Connection, heads: Sequence[HeadRow], *, from_rows: bool) -> HeadRow | None:
    """The newest head, if the tree still has all these."""
    newest = await newest_head(connection)
    for head in heads:
        if newest is None or newest.size < head.size:
            raise HistoryChanged("the Ledger has fewer events than the head")
        await _require_root(connection, head)
    if newest is not None:
        await _require_root(connection, newest)
        if from_rows:
            await _require_rows(connection, newest.size)
    return newest


async def _require_root(connection: Connection, head: HeadRow) -> None:
    if await proofs.root(Nodes(connection, head.size), head.size) != head.root:
        raise HistoryChanged(f"the first {head.size} events are not those of the head")


async def _require_rows(connection: Connection, size: int) -> None:
    async for about, problem in tree_breaches(connection, 0, size - 1):
        raise HistoryChanged(f"{about} {problem}")
