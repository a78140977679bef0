"""What the sequencer reads for the tree: a row that it just numbered is read once, and any other where it lies."""

from aop.ledger.entries import Writer
from aop.ledger.model import SUCCEEDED
from aop.ledger.sequence.sequencer import Sequencer
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger import reference_tree
from tests.ledger.test_sequence import rows, some_calls
from tests.ledger.test_tree import HEADS, leaves
from tests.ledger.writing import a_context, an_acceptance, an_end, new_epoch, writing

_READ_BY_NUMBER = "FROM ledger.number JOIN"


class _Holder:
    """A sequencer whose turns are taken one by one, and the statements it sent."""

    def __init__(self, url: str, writer: Writer) -> None:
        self._url = url
        self.statements = list[str]()
        self.sequencer = Sequencer(self._connected, writer, pause_seconds=0)

    @classmethod
    async def of(cls, url: str, router_id: str) -> "_Holder":
        return cls(url, Writer(router_id, await new_epoch(url, router_id)))

    async def _connected(self) -> Connection:
        connection = await connect(self._url, application="test sequencer")
        connection.add_query_logger(lambda record: self.statements.append(record.query))
        return connection

    @property
    def reads_by_number(self) -> int:
        return sum(_READ_BY_NUMBER in statement for statement in self.statements)

    async def take_turns(self) -> None:
        await self.sequencer.turn()
        while not self.sequencer.is_holder:  # the lock of a session that ended is free a moment later
            await self.sequencer.turn()
        assert self.sequencer.unproven == 0

    def end(self) -> None:
        self.sequencer._drop()  # as a process that dies


async def require_tree(url: str, heads: int) -> None:
    everything, found = await leaves(url), await rows(url, HEADS)
    assert len(found) == heads
    assert found[-1]["size"] == len(everything)
    for head in found:
        assert head["root"] == reference_tree.tree_hash(everything[: head["size"]])


async def test_a_row_that_was_just_numbered_is_not_read_again_for_the_tree(stores: DatabaseUrls) -> None:
    url = stores.router
    holder = await _Holder.of(url, "router-2")
    async with writing(url) as written:
        for _ in range(3):
            await some_calls(written)
            await holder.take_turns()
    holder.end()
    assert holder.reads_by_number == 0
    await require_tree(url, heads=3)


async def test_an_invocation_that_another_holder_numbered_is_read_for_the_tree(stores: DatabaseUrls) -> None:
    url = stores.router
    first, second = await _Holder.of(url, "router-2"), await _Holder.of(url, "router-3")
    async with writing(url) as written:
        place = await written.journal.accept(an_acceptance(a_context()))
        await first.take_turns()
        first.end()
        await written.journal.end(an_end(place, SUCCEEDED))
        await second.take_turns()
        assert second.reads_by_number > 0
        await some_calls(written)
        second.statements.clear()
        await second.take_turns()
    second.end()
    assert second.reads_by_number == 0
    await require_tree(url, heads=3)
