"""Waits until all calls so far can be proved: whoever may read one may then read its bundle."""

from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.support.waiting import becomes_true

_ALL_IN_TREE = """
SELECT (SELECT count(*) FROM ledger.invocation) + (SELECT count(*) FROM ledger.event)
       = (SELECT count(*) FROM ledger.number)
   AND (SELECT max(past) FROM ledger.numbering) = (SELECT max(size) FROM ledger.tree_head)
"""


async def all_in_tree(stores: DatabaseUrls) -> None:
    connection = await connect(stores.router, application="test")

    async def none_is_left() -> bool:
        return bool(await connection.fetchval(_ALL_IN_TREE))

    try:
        await becomes_true(none_is_left)
    finally:
        await connection.close()
