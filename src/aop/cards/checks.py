"""Values against Skill schemas: small checks at once, larger ones in a schema process, none beyond the limit.

The cache of compiled schemas, without which a small check would cost far more, has a limit in bytes.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import jsonschema_rs
import msgspec

from aop.base import json
from aop.base.recent import RecentlyUsed
from aop.cards.bounds import SMALL_NS, check_ns, small_bytes
from aop.cards.cost import Location
from aop.cards.explaining import IN_LOOP, can_explain
from aop.cards.jobs import Checked, CheckValue, Job, ReadText, Reply, SchemaSurvey, SurveySchema
from aop.cards.vetting import BYTES_IN_LOOP, TRIED_BYTES_IN_LOOP, NotInLoop, SchemaVetting, SkillSchemaRefused
from aop.cards.workers import SchemaWorkers
from aop.contracts.documents import compiled, explained
from aop.contracts.errors import InvalidRequest

R = TypeVar("R", bound=Reply)

ANYTHING = b"{}"
"""The schema that every value follows."""
IN_LOOP_BYTES = 64 * 1024
"""A longer value is not even decoded in the event loop."""
_COMPILED_IN_LOOP_NS = 5_000_000.0
_KEPT_BYTES_PER_LOCATION = 2_000
_KEPT_BYTES_PER_TEXT_BYTE = 48
_KEPT_BYTES_PER_AUTOMATON_BYTE = 6
_decode = msgspec.json.Decoder().decode


class TooMuchSchemaWork(Exception):
    """The check would take more processor time or memory than a check may."""


@dataclass(frozen=True)
class PreparedSchema:
    """Ready for small checks. Without a validator every check is made in a schema process."""

    locations: Sequence[Location]
    validator: jsonschema_rs.Draft202012Validator | None
    small_bytes: int
    weight: int

    def is_small(self, text: bytes, value: object) -> bool:
        return len(text) <= self.small_bytes or check_ns(self.locations, value, SMALL_NS) <= SMALL_NS


class SchemaChecks:
    def __init__(self, workers: SchemaWorkers, *, max_work_ms: int, max_kept_bytes: int) -> None:
        self._workers = workers
        self._max_ns = max_work_ms * 1e6
        self._max_kept_bytes = max_kept_bytes
        self._prepared: RecentlyUsed[bytes, PreparedSchema] = RecentlyUsed(max_kept_bytes)
        self._preparing: dict[bytes, asyncio.Task[PreparedSchema | None]] = {}

    async def require_input(self, schema: bytes, text: bytes, value: object, deadline: float) -> None:
        """InvalidRequest with violations under `/input`, TooMuchSchemaWork, TimeoutError at the deadline.

        `value` is what the text holds, UNSET when it was read elsewhere.
        """
        prepared = self._prepared.find(schema)
        if prepared is None:
            async with asyncio.timeout_at(deadline):
                prepared = await self._prepare(schema)
        validator = prepared.validator
        if validator is not None and len(text) <= IN_LOOP_BYTES:
            value = read_value(text) if value is msgspec.UNSET else value
            if prepared.is_small(text, value):
                if validator.is_valid(value):
                    return
                if can_explain(prepared.locations, len(schema), value, IN_LOOP):
                    raise InvalidRequest(*explained(validator, value, ("input",)))
        async with asyncio.timeout_at(deadline):
            checked = await self._run(CheckValue(schema, text, explain=True, max_ns=self._max_ns), Checked, len(text))
        if not checked.is_valid:
            raise InvalidRequest(*checked.violations)

    async def prepared(self, schema: bytes) -> PreparedSchema:
        """For callers that check many values: its validator may check those no longer than `small_bytes` at once."""
        return self._prepared.find(schema) or await self._prepare(schema)

    async def conforms(self, schema: bytes, text: bytes) -> bool:
        """Whether an output value, given as the bytes it has in an answer that was read strictly, follows the schema.

        TooMuchSchemaWork. A caller that stops waiting stops the check.
        """
        if schema == ANYTHING:
            return True
        prepared = await self.prepared(schema)
        validator = prepared.validator
        if validator is not None and len(text) <= IN_LOOP_BYTES:
            value = read_value(text)
            if prepared.is_small(text, value):
                return validator.is_valid(value)
        job = CheckValue(schema, text, explain=False, max_ns=self._max_ns)
        return (await self._run(job, Checked, len(text))).is_valid

    async def is_strict(self, text: bytes, max_depth: int) -> bool:
        """Whether a long text is strict JSON of that depth."""
        return (await self._run(ReadText(text, max_depth), Checked, len(text))).is_valid

    async def _prepare(self, schema: bytes) -> PreparedSchema:
        """Once at a time for each schema, for all callers; a caller who leaves does not stop it for the others."""
        prepared = _prepared_at_once(schema)
        if prepared is None:
            task = self._preparing.get(schema)
            if task is None:
                task = self._preparing[schema] = asyncio.create_task(self._surveyed(schema))
                task.add_done_callback(lambda _: self._preparing.pop(schema, None))
            prepared = await asyncio.shield(task)
            if prepared is None:
                raise TooMuchSchemaWork
        # One that is too heavy is stored alone: to prepare it for every check would take far longer than the check.
        self._prepared.keep(schema, prepared, min(prepared.weight, self._max_kept_bytes))
        return prepared

    async def _surveyed(self, schema: bytes) -> PreparedSchema | None:
        """None if that takes too much work: each of those who wait for it raises an exception of its own."""
        try:
            surveyed = await self._run(SurveySchema(schema), SchemaSurvey, len(schema))
        except TooMuchSchemaWork:
            return None
        automaton_bytes = surveyed.automaton_bytes
        light = surveyed.compile_ns <= _COMPILED_IN_LOOP_NS and automaton_bytes <= TRIED_BYTES_IN_LOOP
        if not surveyed.locations or not light:
            return PreparedSchema((), None, 0, len(schema))
        return _with_validator(schema, _decode(schema), surveyed.locations, automaton_bytes)

    async def _run(self, job: Job, kind: type[R], size: int) -> R:
        reply = await self._workers.run(job, size)
        if not isinstance(reply, kind):
            raise TooMuchSchemaWork
        return reply


def read_value(text: bytes) -> object:
    """As a schema check is to see it."""
    # The text was read strictly before, so the fast decoder is enough. Only of integers beyond the doubles it makes
    # another value than the strict parser, which takes the nearest double: their exact conversion would take time that
    # grows with the square of the digits.
    if not json.has_long_digits(text):
        try:
            return _decode(text)
        except msgspec.DecodeError:
            pass  # a number with an exponent too large for it
    return json.parse(text, json.UNIT_DEPTH)


def _prepared_at_once(text: bytes) -> PreparedSchema | None:
    """None when that would hold up the event loop."""
    if len(text) > BYTES_IN_LOOP:
        return None
    schema, vetting = _decode(text), SchemaVetting.in_loop()
    try:
        locations = vetting.require_usable(schema)
    except NotInLoop:
        return None
    except SkillSchemaRefused:
        raise TooMuchSchemaWork from None
    return _with_validator(text, schema, locations, vetting.patterns.automaton_bytes)


def _with_validator(
    text: bytes, schema: dict[str, object], locations: Sequence[Location], automaton_bytes: int
) -> PreparedSchema:
    weight = (
        _KEPT_BYTES_PER_TEXT_BYTE * len(text)
        + _KEPT_BYTES_PER_LOCATION * len(locations)
        + _KEPT_BYTES_PER_AUTOMATON_BYTE * automaton_bytes
    )
    return PreparedSchema(locations, compiled(schema, formats=False), small_bytes(locations), weight)
