"""What is kept of schemas between checks: those used last, within a limit in bytes that is no less than they take."""

import gc
import json
import os

import pytest

from aop.cards.checks import PreparedSchemas, SchemaChecks
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
async def test_the_limit_in_bytes_holds_and_the_oldest_gives_way() -> None:
    kept = PreparedSchemas(3_000_000)
    checks = SchemaChecks(SchemaWorkers(), max_work_ms=1000, max_kept_bytes=3_000_000)
    first = await checks.prepared(text(schema_of(1)))
    for number in range(1, 60, 2):
        kept.put(text(schema_of(number)), first)
        assert kept.kept_bytes <= 3_000_000
    assert kept.get(text(schema_of(1))) is None
    assert kept.get(text(schema_of(59))) is first


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
