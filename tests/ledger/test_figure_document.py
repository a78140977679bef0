"""The document of figures, made while the unit goes on."""

import asyncio
from datetime import UTC, datetime, timedelta

from aop.contracts.figures import Window
from aop.contracts.lineage import EventType
from aop.ledger.figures.document import figures_of
from aop.ledger.figures.tally import Key, Tally

BUCKETS, SKILLS = 400, 200
SINCE = datetime(2030, 1, 1, tzinfo=UTC)


async def test_the_loop_has_its_turn_while_a_large_document_is_made() -> None:
    tally = Tally()
    for number in range(2 * SKILLS):
        outcome = EventType.SUCCEEDED if number % 2 else None
        tally.keys[number] = Key("acme:agent", f"skill-{number // 2:03}", outcome, None, None)
    for bucket in range(BUCKETS):
        tally.calls[bucket] = dict.fromkeys(tally.keys, 1)
    making = asyncio.create_task(figures_of(tally, "space", Window(SINCE, SINCE + timedelta(minutes=BUCKETS), 60)))
    turns = 0
    while not making.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > BUCKETS * 2 * SKILLS / 4_000
    found = await making
    assert found.total.counts.calls == found.total.counts.succeeded == BUCKETS * SKILLS
    assert [len(bucket.skills) for bucket in found.buckets] == [10] * BUCKETS
