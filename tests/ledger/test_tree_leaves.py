"""Leaves are made from rows, in whatever order PostgreSQL gives them."""

import pytest

from aop.ledger.tree import store
from aop.local.state import DatabaseUrls
from tests.ledger.test_sequence import rows
from tests.ledger.test_tree import connected, grown

STREAMED = "SELECT 1 FROM ledger.event GROUP BY invocation_id HAVING count(*) > 1"


@pytest.mark.rows("TREE-03")
@pytest.mark.parametrize("order", ["number.number", "number.number DESC", "md5(number.number::text)"])
async def test_leaves_are_the_same_in_whatever_order_rows_come(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    await grown(stores.router)
    assert await rows(stores.router, STREAMED), "no Invocation has progress and a terminal"
    async with connected(stores.router) as connection:
        head = await store.newest_head(connection)
        assert head is not None
        expected = await store.leaf_hashes(connection, 0, head.size)
        monkeypatch.setattr(store, "_EVENTS", f"{store._EVENTS} ORDER BY {order}")
        monkeypatch.setattr(store, "_OPENINGS", f"{store._OPENINGS} ORDER BY {order}")
        assert await store.leaf_hashes(connection, 0, head.size) == expected
