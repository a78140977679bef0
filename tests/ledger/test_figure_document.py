"""The document of figures, made while the unit goes on."""

import asyncio
from datetime import UTC, datetime, timedelta

from aop.contracts.figures import Window
from aop.contracts.lineage import EventType
from aop.ledger.figures.document import FiguresDocument
from aop.ledger.figures.tally import Key, StepSums

BUCKETS, SKILLS = 400, 200
SINCE = datetime(2030, 1, 1, tzinfo=UTC)
WINDOW = Window(SINCE, SINCE + timedelta(minutes=BUCKETS), 60)


async def test_the_loop_has_its_turn_while_a_large_document_is_made() -> None:
    keys = {
        number: Key("acme:agent", f"skill-{number // 2:03}", EventType.SUCCEEDED if number % 2 else None, None, None)
        for number in range(2 * SKILLS)
    }
    total = StepSums(dict.fromkeys(keys, BUCKETS))
    document = FiguresDocument("space", WINDOW, keys, total)
    sums = [sum(one == kind for one in document.in_bucket.kinds.values()) for kind in range(document.in_bucket.sums)]
    turns = 0
    async with asyncio.TaskGroup() as group:
        making = group.create_task(document.of([StepSums(sums) for _ in range(BUCKETS)]))
        while not making.done():
            turns += 1
            await asyncio.sleep(0)
    assert turns > 10
    found = making.result()
    assert found.total.counts.calls == found.total.counts.succeeded == BUCKETS * SKILLS
    assert [len(bucket.skills) for bucket in found.buckets] == [10] * BUCKETS
    assert len(sums) == 2 * 11  # of a step, however many keys there are
