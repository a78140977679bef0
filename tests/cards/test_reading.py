"""Reading Cards for a unit: small ones at once, dear ones elsewhere and within their processor time."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from aop.cards.reading import CardReader, ReadCard, read_card
from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import InvalidRequest, Overloaded
from tests.cards.hostile import DEAR_TO_VET, DEEP, WIDE, Schema
from tests.cards.test_checks import children_of
from tests.support.cards import Card, a_card, a_skill
from tests.support.effort import effort
from tests.support.waiting import PATIENCE_SECONDS


@pytest_asyncio.fixture
async def workers() -> AsyncIterator[SchemaWorkers]:
    workers = SchemaWorkers()
    yield workers
    await workers.close()


def card_with(*schemas: Any) -> Card:
    skills = [a_skill(f"s{number}", inputSchema=schema) for number, schema in enumerate(schemas)]
    return a_card(skills=skills, permissions=[])


async def read(workers: SchemaWorkers, card: Card) -> ReadCard:
    raw = json.dumps(card).encode()
    return await CardReader(workers, PATIENCE_SECONDS).read(raw, json.loads(raw))


async def test_a_small_card_is_read_at_once(workers: SchemaWorkers) -> None:
    found = await read(workers, card_with({"type": "object"}))
    assert found.card.agent_id == "acme:summarizer"
    assert not children_of(os.getpid())


async def test_what_a_process_reads_is_what_reading_at_once_gives(workers: SchemaWorkers) -> None:
    card = card_with(WIDE, DEEP)
    raw = json.dumps(card).encode()
    assert await read(workers, card) == read_card(raw, json.loads(raw))


@pytest.mark.rows("SAFE-04")
@pytest.mark.parametrize("schemas", DEAR_TO_VET.values(), ids=DEAR_TO_VET)
async def test_a_card_that_is_dear_to_vet_costs_the_loop_next_to_nothing(
    workers: SchemaWorkers, schemas: Sequence[Schema]
) -> None:
    await read(workers, card_with(WIDE))  # the process runs
    with effort() as spent:  # in this thread; vetting takes up to a second elsewhere
        (found,) = await asyncio.gather(read(workers, card_with(*schemas)), return_exceptions=True)
    assert not isinstance(found, BaseException) or _rules(found) == {"CARD-6"}
    assert spent.seconds < 0.1


def _rules(refused: BaseException) -> set[str]:
    assert isinstance(refused, InvalidRequest)
    return {item.rule for item in refused.violations}


@pytest.mark.rows("SAFE-04")
async def test_vetting_that_takes_more_than_its_processor_time_is_refused(
    workers: SchemaWorkers,
) -> None:
    """Forty Skills of which each takes a good part of what a Card may cost in steps or in compiled patterns."""
    schema = {"properties": {f"p{one}": {"pattern": rf"^\p{{L}}{{1,40}}{one}$"} for one in range(2)}}
    with pytest.raises(InvalidRequest) as refused:
        await read(workers, card_with(*[schema] * 40))
    assert _rules(refused.value) == {"CARD-6"}


@pytest.mark.rows("SAFE-04")
async def test_cards_beyond_those_that_may_wait_are_told_that_the_platform_is_busy(workers: SchemaWorkers) -> None:
    reader = CardReader(workers, PATIENCE_SECONDS, max_waiting=4)
    raws = [json.dumps(card_with(WIDE, {"title": str(number)})).encode() for number in range(12)]
    reads = [asyncio.create_task(reader.read(raw, json.loads(raw))) for raw in raws]
    done = await asyncio.gather(*reads, return_exceptions=True)
    refused = [one for one in done if isinstance(one, BaseException)]
    assert len(refused) == 12 - 2 - 4
    assert all(isinstance(one, Overloaded) for one in refused)


@pytest.mark.rows("SAFE-04")
async def test_a_card_does_not_wait_for_ever_for_a_process_that_stands_still(workers: SchemaWorkers) -> None:
    await read(workers, card_with(WIDE))
    (process,) = children_of(os.getpid())
    os.kill(process, signal.SIGSTOP)
    raw = json.dumps(card_with(WIDE)).encode()
    with pytest.raises(Overloaded):
        await CardReader(workers, 0.2).read(raw, json.loads(raw))
    assert await read(workers, card_with(WIDE))
