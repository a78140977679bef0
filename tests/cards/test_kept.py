"""What is kept of schemas between checks: those used last, within a limit in bytes that is no less than they take."""

import gc
import json
import os

import pytest

from aop.cards.checks import SchemaChecks
from aop.cards.workers import SchemaWorkers
from benchmarks._stream_platform import resident_kib
from tests.cards.hostile import Schema


def text(schema: Schema) -> bytes:
    return json.dumps(schema).encode()


def schema_of(number: int) -> Schema:
    """About as much as is prepared at once: of subschemas, or of patterns."""
    if number % 2:
        return {"allOf": [{"minLength": one, "title": str(number)} for one in range(160)]}
    return {"properties": {f"p{number}-{one}": {"pattern": f"^[a-z]{{1,{one + 2}}}$"} for one in range(12)}}


@pytest.mark.rows("SAFE-05")
async def test_the_limit_in_bytes_holds_and_what_was_used_longest_ago_gives_way() -> None:
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=3_000_000)
    schemas = [text(schema_of(number)) for number in range(1, 60, 2)]
    prepared = [await checks.prepared(schema) for schema in schemas]
    kept_bytes = 0
    for schema, one in zip(reversed(schemas), reversed(prepared), strict=True):
        if await checks.prepared(schema) is not one:
            break
        kept_bytes += one.weight
    assert 2_000_000 < kept_bytes <= 3_000_000
    assert await checks.prepared(schemas[0]) is not prepared[0]


@pytest.mark.rows("SAFE-05")
async def test_a_schema_that_is_heavier_than_the_limit_is_kept_alone() -> None:
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=1_000)
    first = await checks.prepared(text(schema_of(1)))
    assert await checks.prepared(text(schema_of(1))) is first
    await checks.prepared(text(schema_of(3)))
    assert await checks.prepared(text(schema_of(1))) is not first


@pytest.mark.rows("SAFE-05")
async def test_what_is_kept_takes_no_more_memory_than_it_is_counted_with() -> None:
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=1 << 40)
    await checks.prepared(text(schema_of(0)))
    gc.collect()
    before, counted = resident_kib(os.getpid()), 0
    for number in range(1, 120):
        counted += (await checks.prepared(text(schema_of(number)))).weight
    gc.collect()
    assert resident_kib(os.getpid()) - before <= counted / 2**10


@pytest.mark.rows("SAFE-05")
async def test_a_schema_with_a_large_automaton_weighs_more_than_one_of_the_same_length() -> None:
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=1 << 40)
    large = await checks.prepared(text({"pattern": "^[a-z]{1,250}$"}))
    small = await checks.prepared(text({"pattern": "^[a-z]{1,002}$"}))
    assert large.weight > 5 * small.weight
