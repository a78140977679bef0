"""What the sequencer reads for the tree: a row that it just numbered is read once, and any other where it lies."""

import pytest

from aop.ledger.model import SUCCEEDED
from aop.local.state import DatabaseUrls
from tests.ledger import reference_tree
from tests.ledger.holding import Holder
from tests.ledger.test_sequence import rows, some_calls
from tests.ledger.test_tree import HEADS, leaves
from tests.ledger.writing import a_context, an_acceptance, an_end, writing

pytestmark = pytest.mark.second_ring

_READ_BY_NUMBER = "FROM ledger.number JOIN"


async def require_tree(url: str, heads: int) -> None:
    everything, found = await leaves(url), await rows(url, HEADS)
    assert len(found) == heads
    assert found[-1]["size"] == len(everything)
    for head in found:
        assert head["root"] == reference_tree.tree_hash(everything[: head["size"]])


async def test_a_row_that_was_just_numbered_is_not_read_again_for_the_tree(stores: DatabaseUrls) -> None:
    url = stores.router
    holder = await Holder.of(url, "router-2")
    async with writing(url) as written:
        for _ in range(3):
            await some_calls(written)
            await holder.take_turns()
    holder.end()
    assert holder.sent(_READ_BY_NUMBER) == 0
    await require_tree(url, heads=3)


async def test_an_invocation_that_another_holder_numbered_is_read_for_the_tree(stores: DatabaseUrls) -> None:
    url = stores.router
    first, second = await Holder.of(url, "router-2"), await Holder.of(url, "router-3")
    async with writing(url) as written:
        place = await written.journal.accept(an_acceptance(a_context()))
        await first.take_turns()
        first.end()
        await written.journal.end(an_end(place, SUCCEEDED))
        await second.take_turns()
        assert second.sent(_READ_BY_NUMBER) > 0
        await some_calls(written)
        second.statements.clear()
        await second.take_turns()
    second.end()
    assert second.sent(_READ_BY_NUMBER) == 0
    await require_tree(url, heads=3)
