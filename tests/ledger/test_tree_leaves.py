"""Leaves are made from rows, in whatever order PostgreSQL gives them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

import pytest

from aop.ledger.tree import store
from aop.ledger.tree.leaf import InvocationLeaves
from aop.local.state import DatabaseUrls
from aop.store.database import Connection
from tests.ledger.test_sequence import rows
from tests.ledger.test_tree import connected, grown

pytestmark = pytest.mark.second_ring

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


class Answers:
    """A connection that answers its statements in this order."""

    def __init__(self, *answers: Sequence[Sequence[Any]]) -> None:
        self._answers = iter(answers)

    async def fetch(self, *_: object) -> Sequence[Sequence[Any]]:
        return next(self._answers)


def opening() -> Sequence[Any]:
    moment = datetime(2026, 11, 19, tzinfo=UTC)
    who = (uuid4(), uuid4(), uuid4(), None, "user", "u", "space", "agent", "1.0.0", uuid4(), bytes(32), "skill")
    return (*who, "started", uuid4(), moment, moment, None)


@pytest.mark.rows("TREE-03")
async def test_a_full_cache_loses_no_invocation_of_the_rows_at_hand() -> None:
    first, rests, read = opening(), opening(), opening()
    cache = store.LeafCache(2)
    for one in (first, rests):
        cache.keep(one[0], InvocationLeaves(one))
    events = [(number, "space", False, *one[:2], 1) for number, one in ((10, first), (11, read))]
    connection = cast("Connection", Answers([], events, [read]))
    found = await store.rows_between(connection, 10, 12, cache)
    assert [each.columns for _, _, _, each, _ in found.events] == [first, read]
    assert cache.find(rests[0]) is None
