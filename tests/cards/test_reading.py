"""Reading and comparing Cards for a unit: small ones at once, dear ones elsewhere and within their processor time."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aop.base.canonical import canonical
from aop.cards.compatibility.skills import skill_compatibilities
from aop.cards.reading import CardReader, ReadCard, read_card
from aop.cards.workers import SchemaWorkers
from aop.contracts.compatibility import Compatible, SkillAnswers
from aop.contracts.errors import InvalidRequest, Overloaded
from tests.cards.hostile import DEAR_TO_VET, DEEP, WIDE, Schema, many_constants
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


async def compare(workers: SchemaWorkers, before: Card, after: Card) -> tuple[SkillAnswers, ...]:
    return await CardReader(workers, PATIENCE_SECONDS).compare(canonical(before), canonical(after))


async def test_a_comparison_answers_what_the_proofs_say(workers: SchemaWorkers) -> None:
    before = card_with({"type": "string"}, {"maxLength": 3}, {"type": "string"}, {"enum": [None, 1e20]})
    after = card_with({}, {"maxLength": 2}, {"type": "string", "pattern": "a"}, {"enum": [None]})
    after["skills"].reverse()
    found = json.loads(msgspec.json.encode(await compare(workers, before, after)))
    assert found == json.loads(msgspec.json.encode(skill_compatibilities(before, after)))
    assert [one["inputs"]["compatible"] for one in found] == ["yes", "not_decided", "no", "yes"]


async def test_numbers_at_the_edge_of_doubles_end_no_process(workers: SchemaWorkers) -> None:
    """Cards have them as doubles, and their canonical form spells some as long integers."""
    edges: list[Schema] = [
        {"minimum": 1e20, "maximum": 1.5e308},
        {"minimum": 9e15, "multipleOf": 5e-324},
        {"items": {"minimum": 2**53 - 2, "multipleOf": 2**53 - 1}, "minItems": 2, "uniqueItems": True},
        {"const": 1e20},
    ]
    lost: list[int] = []
    counted = SchemaWorkers(lost=lost.append)
    older = card_with(*({"properties": {"n": edge}} for edge in edges))
    newer = card_with(*({"properties": {"n": {**edge, "not": {"type": "null"}}}} for edge in edges))
    for before, after in ((older, newer), (newer, older)):
        assert len(await compare(counted, before, after)) == len(edges)
    await counted.close()
    assert lost == []


async def test_cards_whose_comparison_takes_more_than_its_processor_time_are_not_decided(
    workers: SchemaWorkers,
) -> None:
    before, after = card_with(WIDE, {"type": "string"}), card_with({"type": "string"}, {}, {})
    assert [one.inputs.compatible for one in await compare(workers, before, after)] == [Compatible.NO, Compatible.YES]
    (process,) = children_of(os.getpid())
    os.kill(process, signal.SIGSTOP)
    comparing = asyncio.create_task(compare(workers, before, after))
    await asyncio.sleep(0)
    for number in (signal.SIGPROF, signal.SIGCONT):  # as the kernel ends it when its time is up
        os.kill(process, number)
    found = await comparing
    assert [one.skill_id for one in found] == ["s0", "s1"]
    assert {answer.compatible for one in found for answer in (one.inputs, one.outputs)} == {Compatible.NOT_DECIDED}


async def test_comparisons_wait_behind_all_else_and_not_for_ever(workers: SchemaWorkers) -> None:
    card, raw = card_with(WIDE), json.dumps(card_with(WIDE)).encode()
    await asyncio.gather(*(compare(workers, card, card) for _ in range(workers.processes)))
    stopped = children_of(os.getpid())
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    ended: list[str] = []

    async def noted(name: str, work: Awaitable[object]) -> None:
        await work
        ended.append(name)

    reader = CardReader(workers, PATIENCE_SECONDS)
    first = [asyncio.create_task(compare(workers, card, card)) for _ in stopped]
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(noted("compared", compare(workers, card, card)))]
    await asyncio.sleep(0)
    waiting.append(asyncio.create_task(noted("read", reader.read(raw, json.loads(raw)))))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await CardReader(workers, 0.2).compare(canonical(card), canonical(card))
    with pytest.raises(Overloaded):
        await CardReader(workers, PATIENCE_SECONDS, max_waiting=2).compare(canonical(card), canonical(card))
    os.kill(stopped.pop(), signal.SIGCONT)  # one process alone, so that the order shows
    await asyncio.gather(*waiting)
    os.kill(stopped.pop(), signal.SIGCONT)
    await asyncio.gather(*first)
    assert ended == ["read", "compared"]


async def test_cards_made_to_cost_are_compared_next_to_the_loop(workers: SchemaWorkers) -> None:
    dear = [schema for schemas in DEAR_TO_VET.values() for schema in schemas[:1]]
    before = card_with(*dear, many_constants())
    after = card_with(*({**schema, "minProperties": 1} for schema in dear), many_constants(2999))
    texts = canonical(before), canonical(after)
    reader = CardReader(workers, PATIENCE_SECONDS)
    await compare(workers, card_with({}), card_with({}))  # the process runs
    with effort() as spent:
        found = await reader.compare(*texts)
    assert Compatible.YES not in {one.inputs.compatible for one in found}
    assert spent.seconds < 0.1
