"""The tree over the sequence: tiles and heads as RFC 6962 has them, whoever adds them, and what a rewrite leaves."""

import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import asyncpg
import msgspec
import pytest

from aop.base.canonical import canonical
from aop.ledger.check.comparison import HistoryChanged, compared
from aop.ledger.check.tree import tree_breaches
from aop.ledger.model import SUCCEEDED
from aop.ledger.sequence import sequencer as sequencing
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.tree import proofs, store
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.hashing import Node
from aop.ledger.tree.nodes import Nodes
from aop.ledger.tree.store import TreeBroken
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger import reference_tree
from tests.ledger.test_sequence import all_numbered, rows, sequencer, some_calls
from tests.ledger.writing import SPACE, a_context, an_acceptance, an_end, breaches, reading, writing
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true

HEADS = "SELECT size, root FROM ledger.tree_head ORDER BY size"
CALLS = 60


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    connection = await connect(url, application="test")
    try:
        yield connection
    finally:
        await connection.close()


async def all_in_tree(url: str) -> None:
    await all_numbered(url)

    async def none_is_left() -> bool:
        found = await rows(
            url, "SELECT (SELECT max(past) FROM ledger.numbering) = (SELECT max(size) FROM ledger.tree_head) AS whole"
        )
        return bool(found[0]["whole"])

    await becomes_true(none_is_left)


async def grown(url: str, calls: int = CALLS) -> None:
    """A Ledger with some tiles, and a head for each of several batches."""
    async with writing(url) as written, sequencer(url, "router-2"):
        for _ in range(3):
            await some_calls(written, calls // 3)
            await all_in_tree(url)


async def leaves(url: str) -> Sequence[bytes]:
    """Of all numbers, from the documents that the reader gives of each Invocation."""
    found = dict[int, bytes]()
    async with reading(url) as reader:
        for row in await rows(url, "SELECT invocation_id, sequence, number, events FROM ledger.number"):
            detail = await reader.detail(SPACE, f"inv_{row['invocation_id'].hex}")
            assert detail is not None
            for place in range(row["events"]):
                event = msgspec.to_builtins(detail.events[row["sequence"] + place])
                event.get("error", {}).pop("message", None)
                found[row["number"] + place] = canonical(event)
    return [found[number] for number in range(len(found))]


@pytest.mark.second_ring
async def test_every_head_is_the_root_over_the_events_that_are_read(stores: DatabaseUrls) -> None:
    url = stores.router
    await grown(url)
    everything, heads = await leaves(url), await rows(url, HEADS)
    assert len(everything) > 2 * store.TILE
    assert len(heads) >= 3
    assert [head["root"] for head in heads] == [reference_tree.tree_hash(everything[: head["size"]]) for head in heads]
    assert heads[-1]["size"] == len(everything)
    tiles = await rows(url, "SELECT * FROM ledger.tree_tile WHERE level = 0 ORDER BY tile")
    assert [tile["tile"] for tile in tiles] == list(range(len(everything) // store.TILE))
    assert await breaches(url) == []


@pytest.mark.rows("TREE-03")
async def test_the_tree_has_one_order_whoever_dies_between_two_batches(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two Routers write, and the numbering goes from one to the other in the middle of a tile."""
    monkeypatch.setattr(sequencing, "TAKE_OVER_SECONDS", 0.05)
    url = stores.router
    heads = dict[int, bytes]()
    async with writing(url) as written, writing(url, router_id="router-2") as beside:
        for number in range(4):
            async with sequencer(url, f"numbering-{number}") as first, sequencer(url, f"next-{number}") as second:
                await some_calls(written, 5)
                await some_calls(beside, 5)
                await all_in_tree(url)
                holder: Sequencer = first if first.is_holder else second
                assert holder._connection is not None
                holder._connection.terminate()
                await some_calls(written, 5)
                await all_in_tree(url)
                now = {row["size"]: row["root"] for row in await rows(url, HEADS)}
                assert heads.items() <= now.items()
                heads = now
    everything = await leaves(url)
    assert len(everything) == len(set(everything)) == max(heads)
    assert all(reference_tree.tree_hash(everything[:size]) == root for size, root in heads.items())
    assert await breaches(url) == []


@pytest.mark.second_ring
async def test_proofs_are_those_of_the_definitions(stores: DatabaseUrls) -> None:
    """At every kind of size: inside a tile, at its edge, and where the last tile is not stored yet."""
    url, chance = stores.router, random.Random(24)
    await grown(url)
    everything = await leaves(url)
    sizes = [1, 2, 3, 255, 256, 257, 511, 512, len(everything), *chance.sample(range(4, len(everything)), 10)]
    async with connected(url) as connection:
        for size in sizes:
            nodes, part = Nodes(connection, size), everything[:size]
            assert await proofs.root(nodes, size) == reference_tree.tree_hash(part)
            numbers = sorted({0, size - 1, *chance.choices(range(size), k=4)})
            paths = await proofs.inclusion(nodes, numbers, size)
            assert [list(path) for path in paths] == [reference_tree.path(number, part) for number in numbers]
            for old in {1, size, *chance.choices(range(1, size + 1), k=3)}:
                found = await proofs.consistency(nodes, old, size)
                assert list(found) == reference_tree.consistency(old, part), (old, size)


@pytest.mark.second_ring
async def test_no_proof_is_made_of_a_tree_with_a_tile_that_is_gone(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    url = stores.router
    await grown(url)
    size = len(await leaves(url))
    owner = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        await owner.execute("ALTER TABLE ledger.tree_tile DISABLE TRIGGER USER")
        await owner.execute("DELETE FROM ledger.tree_tile WHERE level = 0 AND tile = 0")
    finally:
        await owner.close()
    async with connected(url) as connection:
        with pytest.raises(TreeBroken, match="a tile is missing"):
            await proofs.inclusion(Nodes(connection, size), [0], size)


@pytest.mark.second_ring
async def test_a_proof_of_many_leaves_works_on_few_at_a_time(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, held, read = stores.router, list[int](), Nodes.read
    await grown(url)
    everything = await leaves(url)
    numbers, past = range(0, len(everything), 7), len(everything)

    async def noted(nodes: Nodes, places: Iterable[Node]) -> None:
        held.append(len(nodes._runs))
        await read(nodes, places)

    monkeypatch.setattr(Nodes, "read", noted)
    async with connected(url) as connection:
        paths = await proofs.inclusion(Nodes(connection, past), numbers, past)
    assert [list(path) for path in paths] == [reference_tree.path(number, everything) for number in numbers]
    assert held == [0] * -(-len(numbers) // proofs.LEAVES_AT_ONCE)


@pytest.mark.second_ring
@pytest.mark.rows("TREE-02")
async def test_a_rewrite_by_the_owner_with_all_triggers_off_is_found_from_the_rows(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    """Of a row in a stored tile, and of one behind it: the newest head, and every one since the row, disagree."""
    url = stores.router
    await grown(url)
    heads = await rows(url, HEADS)
    owner = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    changed = "UPDATE ledger.event SET event_id = gen_random_uuid() WHERE invocation_id = $1 AND sequence = $2"
    try:
        for order in ("ASC", "DESC"):
            row = await owner.fetchrow(
                f"SELECT * FROM ledger.number WHERE sequence > 0 ORDER BY number {order} LIMIT 1"
            )
            assert await _problems(owner) == []
            undone = owner.transaction()
            await undone.start()
            await owner.execute("ALTER TABLE ledger.event DISABLE TRIGGER ALL")
            await owner.execute(changed, row["invocation_id"], row["sequence"])
            found = [text.partition(":")[0] for text in await _problems(owner)]
            await undone.rollback()
            wrong = [f"head {head['size']}" for head in heads if head["size"] > row["number"]]
            assert wrong
            assert [text for text in found if text.startswith("head")] == wrong
            assert any(text.startswith("tile") for text in found) == (order == "ASC")
    finally:
        await owner.close()


@pytest.mark.second_ring
@pytest.mark.rows("TREE-02")
@pytest.mark.parametrize("with_tree", [False, True], ids=["rows alone", "rows and the whole tree"])
async def test_a_rewrite_is_found_by_consistency_from_any_older_head(
    stores: DatabaseUrls, postgres: PostgresForTests, with_tree: bool
) -> None:
    """Also if whoever rewrote history made tiles and heads anew, so that the store agrees with itself."""
    url = stores.router
    await grown(url)
    heads = [store.HeadRow(row["size"], row["root"]) for row in await rows(url, HEADS)]
    owner = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        for head in heads:
            assert (await compared(owner, head, None)).old.root == head.root.hex()
        for table in ("event", "tree_tile", "tree_head"):
            await owner.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER ALL")
        changed = await owner.fetchval("SELECT min(number) FROM ledger.number WHERE sequence > 0")
        await owner.execute(
            "UPDATE ledger.event SET event_id = gen_random_uuid() WHERE (invocation_id, sequence) ="
            " (SELECT invocation_id, sequence FROM ledger.number WHERE number = $1)",
            changed,
        )
        if with_tree:
            await owner.execute("TRUNCATE ledger.tree_tile, ledger.tree_head")
            await (await TreeGrowth.resumed(owner)).grow(heads[-1].size)
            assert await _problems(owner) == []
        over_it = [head for head in heads if head.size > changed]
        assert over_it
        for head in over_it:
            with pytest.raises(HistoryChanged):
                await compared(owner, head, None)
    finally:
        await owner.close()


async def _problems(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    return [f"{about}: {problem}" async for about, problem in tree_breaches(connection, 0, 1 << 40)]


@pytest.mark.second_ring
async def test_nothing_is_added_to_a_tree_whose_leaves_were_changed(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    """Numbers go on."""
    url = stores.router
    await grown(url, 6)
    owner = await asyncpg.connect(postgres.url(url.rpartition("/")[2]))
    try:
        await owner.execute("ALTER TABLE ledger.event DISABLE TRIGGER ALL")
        await owner.execute("UPDATE ledger.event SET event_id = gen_random_uuid()")
        await owner.execute("ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_kept")
    finally:
        await owner.close()
    before = await rows(url, HEADS)
    async with writing(url) as written, sequencer(url, "router-2") as holder:
        place = await written.journal.accept(an_acceptance(a_context()))
        await written.journal.end(an_end(place, SUCCEEDED))
        await all_numbered(url)
        assert holder.is_tree_broken
        assert holder.unproven > 0
    assert await rows(url, HEADS) == before


@pytest.mark.second_ring
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO ledger.tree_tile VALUES (0, 7, sha256(''), decode(repeat('00', 8192), 'hex'))",
        "INSERT INTO ledger.tree_tile VALUES (1, 0, sha256(''), NULL)",
        "INSERT INTO ledger.tree_head SELECT size, root FROM ledger.tree_head LIMIT 1",
        "INSERT INTO ledger.tree_head SELECT size - 1, root FROM ledger.tree_head ORDER BY size DESC LIMIT 1",
        "UPDATE ledger.tree_head SET root = root",
        "DELETE FROM ledger.tree_tile",
        "TRUNCATE ledger.tree_head",
    ],
)
async def test_tiles_and_heads_are_only_added_and_only_in_their_order(stores: DatabaseUrls, statement: str) -> None:
    await grown(stores.router, 3)
    async with connected(stores.router) as connection:
        with pytest.raises(asyncpg.PostgresError):
            await connection.execute(statement)
