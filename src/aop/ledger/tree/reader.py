"""The read handle of the tree: its newest head, and the proofs of an Invocation or a Trace."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

import msgspec

from aop.base.ids import hex_part
from aop.contracts.ledger_tree import InvocationProof, LeafProof, LedgerHead, LedgerProof, LedgerProofPage
from aop.ledger.months import require_not_archived, require_trace_not_archived
from aop.ledger.tree import proofs, store
from aop.ledger.tree.hashing import leaf_hash
from aop.ledger.tree.leaf import InvocationLeaves
from aop.ledger.tree.nodes import Nodes
from aop.ledger.tree.store import HeadRow, TreeBroken
from aop.store.database import Connection, Database

MAX_LEAVES: Final = 3_000
"""How many a proof may have: an answer of some megabytes."""
MAX_INVOCATIONS_IN_PAGE: Final = 10
"""A Card may have a megabyte, and the Gateway adds that of each."""


class ProofPosition(NamedTuple):
    """Where a page begins: under which head, and with which event of which Invocation, named by its first number."""

    size: int
    number: int
    sequence: int


class PartUnknown(Exception):
    """No page of this proof begins there."""


class NotInTree(Exception):
    """An event has no number yet, or is not under a head yet, or the Invocation runs."""


class TooManyLeaves(Exception):
    """The Trace or the Invocation has more events than one answer has room for."""


class _Subject(NamedTuple):
    """What a proof is of: the statement of its openings, and what refuses one that was archived."""

    openings: str
    require_not_archived: Callable[[Connection, str, str | None], Awaitable[None]]


_INVOCATION: Final = _Subject(store.OF_INVOCATION, require_not_archived)
_TRACE: Final = _Subject(store.OF_TRACE, require_trace_not_archived)


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
        return await self._proof(_INVOCATION, invocation, workspace_id)

    async def of_trace(self, workspace_id: str, trace_id: str) -> LedgerProof | None:
        return await self._proof(_TRACE, trace_id, workspace_id)

    async def page(
        self, workspace_id: str, of: Literal["invocation", "trace"], name: str, begin: ProofPosition | None
    ) -> tuple[LedgerProofPage, ProofPosition | None] | None:
        """A part of a proof of any size, with where the next one begins. All parts are under the head of the first."""
        found, subject = (hex_part(name, "inv"), _INVOCATION) if of == "invocation" else (name, _TRACE)
        if found is None:
            return None
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            head = await _head_of(connection, begin)
            limit = MAX_INVOCATIONS_IN_PAGE + 1
            openings = await store.openings_from(
                connection, subject.openings, found, workspace_id, 0 if begin is None else begin.number, limit
            )
            if begin is None:
                if not await connection.fetch(subject.openings, found, workspace_id, 1):
                    await subject.require_not_archived(connection, found, workspace_id)
                    return None
                if await store.has_unproven(connection, subject.openings, found, workspace_id, head.size):
                    raise NotInTree("an Invocation runs, or is not under a head")
            elif not openings or openings[0][0] != begin.number:
                raise PartUnknown
            chains, following = await _part(connection, openings, begin, head.size)
            numbers = [number for chain in chains for number in chain.numbers]
            paths = await proofs.inclusion(Nodes(connection, head.size), numbers, head.size)
        proof = await _document(head, chains, paths)
        return LedgerProofPage(head=proof.head, invocations=proof.invocations), following

    async def _proof(self, subject: "_Subject", name: str, workspace_id: str | None) -> LedgerProof | None:
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            openings = await connection.fetch(subject.openings, name, workspace_id, MAX_LEAVES + 1)
            if not openings:
                await subject.require_not_archived(connection, name, workspace_id)
                return None
            head = await _head_of(connection, None)
            chains = await _chains(connection, openings, head)
            numbers = [number for chain in chains for number in chain.numbers]
            paths = await proofs.inclusion(Nodes(connection, head.size), numbers, head.size)
        return await _document(head, chains, paths)


def head_document(head: HeadRow) -> LedgerHead:
    return LedgerHead(size=head.size, root=head.root.hex())


async def _head_of(connection: Connection, begin: ProofPosition | None) -> HeadRow:
    if begin is None:
        newest = await store.newest_head(connection)
        if newest is None:
            raise NotInTree("there is no head yet")
        return newest
    head = await store.head_of(connection, begin.size)
    if head is None:
        raise PartUnknown
    return head


async def _part(
    connection: Connection, openings: Sequence[tuple[int, Sequence[Any]]], begin: ProofPosition | None, size: int
) -> tuple[Sequence[_Chain], ProofPosition | None]:
    """As many events as one answer has room for, and where the rest begins."""
    chains, room, sequence = list[_Chain](), MAX_LEAVES, 0 if begin is None else begin.sequence
    for first, opening in openings[:MAX_INVOCATIONS_IN_PAGE]:
        made = InvocationLeaves(opening)
        opened = [*enumerate(made.of_opening(), first)]
        events = await store.events_from(connection, opening, max(sequence, len(opened)), room + 1)
        part = [*opened[sequence:], *((number, made.of_event(columns)) for number, columns in events)]
        if not part or part[-1][0] >= size:
            raise PartUnknown
        chains.append(_Chain([leaf for _, leaf in part[:room]], [number for number, _ in part[:room]]))
        if len(part) > room:
            return chains, ProofPosition(size, first, sequence + room)
        room, sequence = room - len(part), 0
        if room == 0:
            break
    rest = openings[len(chains) :]
    return chains, ProofPosition(size, rest[0][0], 0) if rest else None


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
