"""The schema process: does one job after the other for the unit that started it, and knows nothing else of it.

It is started with an empty environment and nothing but two pipes. Each job has its processor time: the kernel ends the
process at the end of it, wherever it is, because neither a thread nor a signal handler can interrupt the validator.
"""

import json as standard_json
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any, cast

import jsonschema_rs
import msgspec

from aop.base import json
from aop.base.canonical import LARGEST_SAFE_INTEGER, canonical
from aop.base.recent import RecentlyUsed
from aop.cards.bounds import MAX_CHECK_BYTES, check_ns, fits_in_memory
from aop.cards.compatibility.skills import skill_compatibilities
from aop.cards.cost import Location
from aop.cards.explaining import violations_of
from aop.cards.jobs import (
    CardRead,
    CardRefused,
    Checked,
    CheckValue,
    CompareCards,
    Comparison,
    Job,
    ReadBody,
    ReadCardText,
    ReadText,
    Reply,
    SchemaSurvey,
    SurveySchema,
    TooMuchWork,
)
from aop.cards.rules import card_violations
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused
from aop.contracts.documents import compiled, document
from aop.contracts.errors import MAX_VIOLATIONS, Violation
from aop.processes.frames import framed, wait_for_frame

CPU_SECONDS = 1.0
"""What one job may take, unless the operator allows larger checks or longer bodies."""
_BODY_BYTES_PER_CPU_SECOND = 1024 * 1024
_NICENESS = 10
_MAX_KEPT_BYTES = 256 * 1024
"""Of the texts of the schemas in the cache: what is made of a text takes up to fifty times its bytes."""
_MAX_KEPT_AUTOMATON_BYTES = 64 * 1024
_MAX_SENT_LOCATIONS = 500
_MAX_PARTS = 5_000
"""Each becomes an object of the Router, in its event loop: two microseconds and three hundred bytes."""
_CONTENT = frozenset({"data", "text", "file", "metadata", "history"})

_jobs = msgspec.msgpack.Decoder(Job)
_reply = msgspec.msgpack.Encoder()


class _CompiledSchema:
    """A schema as the process needs it again and again."""

    def __init__(self, text: bytes) -> None:
        schema = json.parse(text, json.UNIT_DEPTH)
        if not isinstance(schema, dict):
            raise SkillSchemaRefused("not an object")
        self.schema: dict[str, Any] = schema
        vetting = SchemaVetting()
        self.locations: Sequence[Location] = vetting.require_usable(schema)
        self.automaton_bytes = vetting.patterns.automaton_bytes
        started = time.process_time()
        self.validator: jsonschema_rs.Draft202012Validator = compiled(schema, formats=False)
        self.compile_ns = (time.process_time() - started) * 1e9


_schemas: RecentlyUsed[bytes, _CompiledSchema] = RecentlyUsed(_MAX_KEPT_BYTES)


def _compiled_schema(text: bytes) -> _CompiledSchema:
    """One with large automata is made anew each time."""
    found = _schemas.find(text)
    if found is None:
        found = _CompiledSchema(text)
        if found.automaton_bytes <= _MAX_KEPT_AUTOMATON_BYTES:
            _schemas.keep(text, found, len(text))
    return found


@singledispatch
def answer(job: Any) -> Reply:
    raise TypeError(type(job).__name__)


@answer.register
def _read_card(job: ReadCardText) -> Reply:
    value = json.parse(job.raw)
    broken = card_violations(job.raw, cast("Mapping[str, Any]", value))
    return CardRefused(tuple(broken[:MAX_VIOLATIONS])) if broken else CardRead(canonical(value))


@answer.register
def _survey(job: SurveySchema) -> Reply:
    try:
        prepared = _compiled_schema(job.schema)
    except SkillSchemaRefused:
        return TooMuchWork()
    few = len(prepared.locations) <= _MAX_SENT_LOCATIONS
    return SchemaSurvey(tuple(prepared.locations) if few else (), prepared.compile_ns, prepared.automaton_bytes)


@answer.register
def _check(job: CheckValue) -> Reply:
    if not fits_in_memory(job.value):
        return TooMuchWork()
    try:
        prepared = _compiled_schema(job.schema)
    except SkillSchemaRefused:
        return TooMuchWork()
    value = json.parse(job.value, json.UNIT_DEPTH)
    if check_ns(prepared.locations, value, job.max_ns) > job.max_ns:
        return TooMuchWork()
    if prepared.validator.is_valid(value):
        return Checked(is_valid=True)
    if not job.explain:
        return Checked(is_valid=False)
    found = violations_of(prepared.validator, prepared.schema, len(job.schema), prepared.locations, value, ("input",))
    return Checked(is_valid=False, violations=found)


@answer.register
def _read(job: ReadText) -> Reply:
    if not fits_in_memory(job.text):
        return TooMuchWork()
    try:
        value = json.parse(job.text, job.max_depth)
    except json.JsonRefused:
        return Checked(is_valid=False)
    return TooMuchWork() if _has_too_many_parts(value) else Checked(is_valid=True)


@answer.register
def _read_body(job: ReadBody) -> Reply:
    if not fits_in_memory(job.text):
        return TooMuchWork()
    expected = document(job.document)
    try:
        value = json.parse(job.text)
    except json.JsonRefused as refused:
        broken: tuple[Violation, ...] = (Violation(expected.declared_pointer(refused.pointer), refused.rule),)
    else:
        broken = expected.violations(value)
    return Checked(is_valid=not broken, violations=broken)


@answer.register
def _compare(job: CompareCards) -> Reply:
    return Comparison(msgspec.json.encode(skill_compatibilities(_card(job.before), _card(job.after))))


def _card(text: bytes) -> dict[str, Any]:
    """A Card from its canonical form, which spells the double 1e20 as an integer that no reader may take for one."""
    found: dict[str, Any] = standard_json.loads(text, parse_int=_number)
    return found


def _number(text: str) -> int | float:
    number = int(text)
    return number if abs(number) <= LARGEST_SAFE_INTEGER else float(text)


def _has_too_many_parts(answer: object) -> bool:
    """Whether the lists around the content of an answer, of artifacts and their parts, are longer than usual by far."""
    count, waiting = 0, [answer]
    while waiting and count <= _MAX_PARTS:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(child for name, child in one.items() if name not in _CONTENT)
        elif isinstance(one, list):
            count += len(one)
            waiting.extend(one[: _MAX_PARTS + 1])
    return count > _MAX_PARTS


def main() -> None:
    os.nice(_NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the unit decides when this one ends
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _limit_memory()
    while text := wait_for_frame(sys.stdin.buffer):
        try:
            reply = _answered(text)
        except MemoryError:
            _send(TooMuchWork())
            return  # what is left of it is no process to go on with; the unit starts another
        _send(reply)


def _send(reply: Reply) -> None:
    sys.stdout.buffer.write(framed(_reply.encode(reply)))
    sys.stdout.buffer.flush()


def _answered(text: bytes) -> Reply:
    try:
        job = _jobs.decode(text)
        signal.setitimer(signal.ITIMER_PROF, max(CPU_SECONDS, _allowed_seconds(job)))
        return answer(job)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _allowed_seconds(job: Job) -> float:
    if isinstance(job, CheckValue):
        return job.max_ns / 1e9
    return len(job.text) / _BODY_BYTES_PER_CPU_SECOND if isinstance(job, ReadBody) else CPU_SECONDS


def _limit_memory() -> None:
    """Twice what a check may add, so that what is counted too low ends the job and not the machine."""
    max_bytes = _data_bytes() + 2 * MAX_CHECK_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))


def _data_bytes() -> int:
    """What the process uses of that limit now; where the system does not say, a safe guess."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            found = next(line for line in status if line.startswith("VmData:"))
    except (OSError, StopIteration):
        return 256 * 1024 * 1024
    return int(found.split()[1]) * 1024


if __name__ == "__main__":
    main()
