"""A batch is added at once; where a row of it is there already, the others are added all the same. A lone row has
statements of its own and meets the same rules."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id
from aop.ledger.model import CANCELED, SUCCEEDED, Acceptance, Fact, LastFact, Progress, progress_fact
from aop.ledger.write import store
from aop.ledger.write.group_commit import FENCED
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from tests.ledger.writing import ROUTER, a_context, an_acceptance, an_end, breaches, new_epoch
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

COUNT = "SELECT (SELECT count(*) FROM ledger.invocation) AS invocations, (SELECT count(*) FROM ledger.event) AS events"


class Batches:
    """Writes as a group commit does, with batches that a test chooses."""

    def __init__(self, connection: Connection, epoch: int) -> None:
        self.connection = connection
        self.epoch = epoch
        self._position = 0

    async def accept(self, acceptances: Sequence[Acceptance]) -> set[str]:
        """The event ids of those that were accepted."""
        entries = [(position, one, None) for position, one in enumerate(acceptances, self._position + 1)]
        self._position += len(entries)
        return set(await store.accept(self.connection, ROUTER, self.epoch, entries))

    async def append(self, facts: Sequence[Fact]) -> set[store.Key]:
        return await store.append(self.connection, ROUTER, self.epoch, facts)

    async def opened(self, count: int) -> Sequence[LastFact]:
        acceptances = [an_acceptance() for _ in range(count)]
        assert await self.accept(acceptances) == {one.event for one in acceptances}
        return [LastFact.opened(one, one.created_at) for one in acceptances]

    async def counts(self) -> tuple[int, int]:
        return tuple(await self.connection.fetchrow(COUNT))


@asynccontextmanager
async def batches(url: str) -> AsyncIterator[Batches]:
    epoch, connection = await new_epoch(url), await connect(url, application="test")
    try:
        await store.prepare_writer(connection, PATIENCE_SECONDS)
        yield Batches(connection, epoch)
    finally:
        await connection.close()


async def test_of_a_batch_only_what_has_a_taken_id_is_refused(stores: DatabaseUrls) -> None:
    """Taken by a call that is there, or by one of the same batch; with calls of Agents in it and without."""
    async with batches(stores.router) as written:
        taken, twice = an_acceptance(), an_acceptance()
        await written.accept([taken])
        fresh = [an_acceptance() for _ in range(5)]
        batch = [*fresh[:2], an_acceptance(taken.context), twice, *fresh[2:], an_acceptance(twice.context)]
        assert await written.accept(batch) == {one.event for one in (*fresh, twice)}
        child, other = an_acceptance(a_context(fresh[0].context)), an_acceptance()
        assert await written.accept([other, an_acceptance(taken.context), child]) == {child.event, other.event}
        assert await written.accept([an_acceptance(taken.context), an_acceptance(other.context)]) == set()
        assert await written.counts() == (9, 0)


@pytest.mark.rows("LED-04")
async def test_of_a_batch_of_terminals_those_are_added_whose_invocation_has_none(stores: DatabaseUrls) -> None:
    async with batches(stores.router) as written:
        places = await written.opened(6)
        first = [an_end(place, CANCELED) for place in places[:2]]
        assert await written.append(first) == {fact.key for fact in first}
        late = [an_end(place, SUCCEEDED) for place in places]
        assert await written.append(late) == {fact.key for fact in late[2:]}
        assert await written.append(late) == set()
        types = await written.connection.fetch("SELECT type FROM ledger.event")
        assert sorted(row["type"] for row in types) == ["canceled"] * 2 + ["succeeded"] * 4
    assert await breaches(stores.router) == []


async def test_a_batch_with_a_row_that_breaks_a_rule_adds_nothing(stores: DatabaseUrls) -> None:
    """Also where another row of it is there already."""
    async with batches(stores.router) as written:
        places = await written.opened(4)
        await written.append([an_end(places[0], SUCCEEDED)])
        unknown = LastFact.opened(nobody := an_acceptance(), nobody.created_at)
        for ended in ((), (an_end(places[0], CANCELED),)):
            with pytest.raises(asyncpg.ForeignKeyViolationError):
                await written.append(
                    [*(an_end(place, SUCCEEDED) for place in places[1:]), *ended, an_end(unknown, SUCCEEDED)]
                )
        too_long = an_acceptance(a_context(capability="x" * 129))
        with pytest.raises(asyncpg.CheckViolationError):
            await written.accept([an_acceptance(), too_long])
        assert await written.counts() == (4, 1)


@pytest.mark.rows("LED-14")
async def test_a_fenced_writer_learns_so_whether_its_batch_is_new_or_there(stores: DatabaseUrls) -> None:
    async with batches(stores.router) as written:
        places = await written.opened(3)
        ends = [an_end(place, SUCCEEDED) for place in places]
        await written.append(ends[:2])
        await new_epoch(stores.router)
        for attempt in (
            written.append(ends),
            written.append(ends[:2]),
            written.accept([an_acceptance(), an_acceptance()]),
            written.accept([an_acceptance(place.context) for place in places]),
        ):
            with pytest.raises(asyncpg.PostgresError) as refusal:
                await attempt
            assert refusal.value.sqlstate == FENCED
        assert await written.counts() == (3, 2)


def _progress(place: LastFact) -> Fact:
    return progress_fact(place, new_hex_id(), utc_now(), Progress(1, 1))


@pytest.mark.rows("LED-04")
async def test_a_lone_row_that_is_there_already_is_not_added_again(stores: DatabaseUrls) -> None:
    """Neither where it is a statement of its own nor in a transaction, which goes on."""
    async with batches(stores.router) as written:
        (place,) = await written.opened(1)
        end = an_end(place, SUCCEEDED)
        assert await written.append([end]) == {end.key}
        for _ in range(2):
            assert await written.accept([an_acceptance(place.context)]) == set()
            assert await written.append([an_end(place, CANCELED)]) == set()
        async with written.connection.transaction():
            assert await written.accept([an_acceptance(place.context)]) == set()
            fresh = an_acceptance()
            assert await written.accept([fresh]) == {fresh.event}
        assert await written.counts() == (2, 1)
    assert await breaches(stores.router) == []


@pytest.mark.rows("LED-04", "LED-06")
async def test_what_a_row_follows_is_in_the_ledger_whether_it_comes_alone_or_with_others(stores: DatabaseUrls) -> None:
    async with batches(stores.router) as written:
        places = await written.opened(8)
        unknown = LastFact.opened(nobody := an_acceptance(), nobody.created_at)
        earlier = LastFact.opened(an_acceptance(places[0].context), places[0].created_at - timedelta(milliseconds=3))
        never_written = _progress(places[1]).as_last()
        reports = [_progress(place) for place in places[2:4]]
        assert await written.append(reports) == {fact.key for fact in reports}
        another = _progress(places[2]).as_last()
        wrongs = [an_end(place, SUCCEEDED) for place in (unknown, earlier, never_written)]
        for wrong in (*wrongs, _progress(never_written), _progress(another)):
            for company in ([], [an_end(places[4], SUCCEEDED), _progress(reports[1].as_last())]):
                with pytest.raises(asyncpg.ForeignKeyViolationError):
                    await written.append([*company, wrong])
        assert await written.counts() == (8, 2)
        for alone in ([_progress(reports[0].as_last())], [an_end(reports[1].as_last(), SUCCEEDED)]):
            assert await written.append(alone) == {alone[0].key}
    assert await breaches(stores.router) == []


@pytest.mark.rows("LED-14")
async def test_a_fenced_writer_learns_so_whether_its_lone_row_is_new_or_there(stores: DatabaseUrls) -> None:
    async with batches(stores.router) as written:
        first, second = await written.opened(2)
        ended = an_end(first, SUCCEEDED)
        await written.append([ended])
        await new_epoch(stores.router)
        for attempt in (
            written.append([an_end(second, SUCCEEDED)]),
            written.append([ended]),
            written.accept([an_acceptance()]),
            written.accept([an_acceptance(first.context)]),
        ):
            with pytest.raises(asyncpg.PostgresError) as refusal:
                await attempt
            assert refusal.value.sqlstate == FENCED
        assert await written.counts() == (2, 1)
