"""The read handle of the tree: its newest head, and the proofs of an Invocation or a Trace."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec

from aop.base.ids import hex_part
from aop.contracts.ledger_tree import InvocationProof, LeafProof, LedgerHead, LedgerProof
from aop.ledger.archived import require_not_archived, require_trace_not_archived
from aop.ledger.tree import proofs, store
from aop.ledger.tree.hashing import leaf_hash
from aop.ledger.tree.leaf import InvocationLeaves
from aop.ledger.tree.nodes import Nodes
from aop.ledger.tree.store import HeadRow, TreeBroken
from aop.store.database import Connection, Database

MAX_LEAVES: Final = 3_000
"""How many a proof may have: an answer of some megabytes."""


class NotInTree(Exception):
    """An event has no number yet, or is not under a head yet, or the Invocation runs."""


class TooManyLeaves(Exception):
    """The Trace or the Invocation has more events than one answer has room for."""


@dataclass(frozen=True)
class _Chain:
    leaves: Sequence[bytes]
    numbers: Sequence[int]


class TreeReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def head(self) -> LedgerHead | None:
        async with self._database.connection() as connection:
            row = await store.newest_head(connection)
        return None if row is None else head_document(row)

    async def of_invocation(self, workspace_id: str | None, invocation_id: str) -> LedgerProof | None:
        """None if there is no such Invocation in the Workspace, or in any if none is named. Raises Archived if it was
        detached."""
        invocation = hex_part(invocation_id, "inv")
        if invocation is None:
            return None
        return await self._proof(store.OF_INVOCATION, require_not_archived, invocation, workspace_id)

    async def of_trace(self, workspace_id: str, trace_id: str) -> LedgerProof | None:
        return await self._proof(store.OF_TRACE, require_trace_not_archived, trace_id, workspace_id)

    async def _proof(
        self,
        of: str,
        require_here: Callable[[Connection, str, str | None], Awaitable[None]],
        name: str,
        workspace_id: str | None,
    ) -> LedgerProof | None:
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            openings = await connection.fetch(of, name, workspace_id, MAX_LEAVES + 1)
            if not openings:
                await require_here(connection, name, workspace_id)
                return None
            head = await store.newest_head(connection)
            if head is None:
                raise NotInTree("there is no head yet")
            chains = await _chains(connection, openings, head)
            numbers = [number for chain in chains for number in chain.numbers]
            paths = await proofs.inclusion(Nodes(connection, head.size), numbers, head.size)
        return await _document(head, chains, paths)


def head_document(head: HeadRow) -> LedgerHead:
    return LedgerHead(size=head.size, root=head.root.hex())


async def _chains(connection: Connection, openings: Sequence[Any], head: HeadRow) -> Sequence[_Chain]:
    """In the order in which they were numbered, so that a parent stands before its children."""
    invocations = [row[0] for row in openings]
    numbers = await store.numbers_of(connection, invocations)
    events: Mapping[UUID, list[Sequence[Any]]] = {invocation: [] for invocation in invocations}
    roots = list({row[1] for row in openings})
    rows = await store.events_of(connection, invocations, roots, MAX_LEAVES + 1)
    if len(openings) + len(rows) > MAX_LEAVES:
        raise TooManyLeaves
    for invocation, *columns in rows:
        events[invocation].append(columns)
    chains = [_chain(row, events[row[0]], numbers, head) for row in openings]
    return sorted(chains, key=lambda chain: chain.numbers[0])


def _chain(
    opening: Sequence[Any], events: Sequence[Sequence[Any]], numbers: Mapping[tuple[UUID, int], int], head: HeadRow
) -> _Chain:
    made, invocation = InvocationLeaves(opening), opening[0]
    opened = made.of_opening()
    if not events or events[-1][3] == "stream":
        raise NotInTree("the Invocation runs")
    first, *later = (numbers.get((invocation, sequence)) for sequence in (0, *(event[0] for event in events)))
    if first is None or None in later:
        raise NotInTree("an event has no number")
    found = [*range(first, first + len(opened)), *(number for number in later if number is not None)]
    if max(found) >= head.size:
        raise NotInTree("an event is not under a head")
    return _Chain([*opened, *map(made.of_event, events)], found)


async def _document(head: HeadRow, chains: Sequence[_Chain], paths: Sequence[Sequence[bytes]]) -> LedgerProof:
    """A proof that leads to another root is never given away. The loop has its turn after some leaves."""
    ahead, made, leaves = iter(paths), list[InvocationProof](), 0
    for chain in chains:
        proved = list[LeafProof]()
        for number, leaf in zip(chain.numbers, chain.leaves, strict=True):
            proved.append(_leaf(head, number, leaf, next(ahead)))
            leaves += 1
            if leaves % proofs.LEAVES_AT_ONCE == 0:
                await asyncio.sleep(0)
        made.append(InvocationProof(leaves=tuple(proved)))
    return LedgerProof(head=head_document(head), invocations=tuple(made))


def _leaf(head: HeadRow, number: int, leaf: bytes, path: Sequence[bytes]) -> LeafProof:
    if proofs.root_from(number, head.size, leaf_hash(leaf), path) != head.root:
        raise TreeBroken(f"event {number} is not in the tree")
    return LeafProof(number=number, leaf=msgspec.Raw(leaf), path=tuple(each.hex() for each in path))
