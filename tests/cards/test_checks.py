"""Checks of values: small ones at once, larger ones elsewhere, none beyond its limit in time and memory."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aop.cards.checks import SchemaChecks, TooMuchSchemaWork
from aop.cards.jobs import SchemaSurvey, SurveySchema
from aop.cards.process import answer
from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import InvalidRequest
from tests.cards.hostile import many_constants, many_minimums
from tests.support.effort import effort

pytestmark = pytest.mark.second_ring

FAR = 1e9


class Checking:
    def __init__(self) -> None:
        self.lost: list[int] = []
        self.workers = SchemaWorkers(lost=self.lost.append)
        self.checks = SchemaChecks(self.workers, max_work_ms=1000, max_kept_bytes=64 << 20)

    async def input(self, schema: Any, value: Any, deadline: float = FAR) -> None:
        await self.checks.require_input(text(schema), text(value), value, deadline)

    async def output(self, schema: Any, value: Any) -> bool:
        return await self.checks.conforms(text(schema), text(value))

    def processes(self) -> list[int]:
        return children_of(os.getpid())


@pytest_asyncio.fixture
async def checking() -> AsyncIterator[Checking]:
    checking = Checking()
    yield checking
    await checking.workers.close()
    assert not checking.processes()


def text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def children_of(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has just ended
            found += [int(one) for one in (task / "children").read_text().split()]
    return [one for one in found if b"aop.cards.process" in Path(f"/proc/{one}/cmdline").read_bytes()]


async def test_a_small_check_starts_no_process(checking: Checking) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    await checking.input(schema, {"n": 1})
    with pytest.raises(InvalidRequest) as refused:
        await checking.input(schema, {"n": "one"})
    assert [(item.pointer, item.rule) for item in refused.value.violations] == [("/input/n", "type")]
    assert await checking.output(schema, {"n": 2})
    assert not await checking.output(schema, {})
    assert not checking.processes()


@pytest.mark.rows("SAFE-01")
@pytest.mark.parametrize("items", [20, 5_000])
async def test_a_refused_value_is_explained_without_going_through_all_its_faults(
    checking: Checking, items: int
) -> None:
    with effort() as spent, pytest.raises((InvalidRequest, TooMuchSchemaWork)) as refused:  # in the loop's thread
        await checking.input(many_minimums(), {"x": [-1] * items})
    assert spent.seconds < 0.5
    if isinstance(refused.value, InvalidRequest):
        assert 1 <= len(refused.value.violations) <= 20
        assert {item.rule for item in refused.value.violations} == {"minimum"}


@pytest.mark.rows("SAFE-02")
async def test_a_value_that_takes_longer_than_the_limit_is_not_checked_at_all(checking: Checking) -> None:
    value = {"x": ["c2999"] * 100_000}
    with pytest.raises(TooMuchSchemaWork):
        await checking.input(many_constants(), value)


async def test_what_a_process_finds_is_what_a_check_at_once_would_find(checking: Checking) -> None:
    schema = {"type": "object", "properties": {"x": {"items": {"type": "string"}}}, "required": ["y"]}
    many = {"x": ["a"] * 40_000}
    with pytest.raises(InvalidRequest) as refused:
        await checking.input(schema, many)
    assert checking.processes()
    assert [(item.pointer, item.rule) for item in refused.value.violations] == [("/input/y", "required")]
    await checking.input(schema, {**many, "y": 1})
    assert not await checking.output(schema, {"x": [*many["x"], 5], "y": 1})


async def test_a_check_that_is_not_done_at_the_deadline_is_ended_with_its_process(checking: Checking) -> None:
    schema = many_minimums(-1)
    await checking.input(schema, {"x": [1] * 50})
    (process,) = checking.processes()
    loop = asyncio.get_running_loop()
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        await checking.input(schema, {"x": [1] * 50}, loop.time() + 0.05)
    await checking.input(schema, {"x": [1] * 50})
    assert process not in checking.processes()


async def test_all_who_wait_for_one_schema_are_refused_by_an_exception_of_their_own(checking: Checking) -> None:
    await checking.workers.close()
    schema = text(many_minimums(-1))
    refused = await asyncio.gather(*(checking.checks.prepared(schema) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in refused] == [TooMuchSchemaWork] * 3
    assert len(set(map(id, refused))) == 3


async def test_a_process_that_dies_is_replaced_and_its_job_done_all_the_same(checking: Checking) -> None:
    schema = many_minimums(-1)
    await checking.input(schema, {"x": [1] * 50})
    (process,) = checking.processes()
    os.kill(process, signal.SIGKILL)
    await checking.input(schema, {"x": [1] * 50})
    assert checking.lost == []


async def test_there_are_two_processes_at_most_and_the_smallest_job_goes_first(checking: Checking) -> None:
    schema, done = many_minimums(-1), []

    async def check(items: int) -> None:
        await checking.input(schema, {"x": [1] * items})
        done.append(items)

    await asyncio.gather(*(check(items) for items in (60, 59, 58, 57, 51, 52, 53)))
    assert len(checking.processes()) <= 2
    assert done.index(51) < done.index(57)


async def test_a_process_inherits_no_variable_no_descriptor_and_has_low_priority(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL", "canary")
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    await checking.input(many_minimums(-1), {"x": [1] * 50})
    (process,) = checking.processes()
    assert b"canary" not in environment_of(process)
    opened = {os.readlink(f"/proc/{process}/fd/{number}") for number in os.listdir(f"/proc/{process}/fd")}
    assert not {one for one in opened if one.startswith("socket:")} - set(_stdio(process))
    assert os.getpriority(os.PRIO_PROCESS, process) >= 10
    server.close()
    await server.wait_closed()


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


def _stdio(process: int) -> list[str]:
    """A loop may make its pipes of socket pairs."""
    return [os.readlink(f"/proc/{process}/fd/{number}") for number in (0, 1)]


@pytest.mark.rows("SAFE-03")
@pytest.mark.parametrize(
    "value",
    [
        b"[" + b",".join([b"{}"] * 2_700_000) + b"]",
        b"[" + b",".join([b'{"a":1}'] * 1_000_000) + b"]",
        b'"' + b"x" * 8_000_000 + b'\\ud83d\\ude00"',
    ],
    ids=["objects", "members", "one wide character"],
)
async def test_a_value_that_would_not_fit_in_memory_is_not_even_decoded(checking: Checking, value: bytes) -> None:
    assert await checking.output({"type": "array"}, [1] * 70_000)
    (process,) = checking.processes()
    before = peak(process)
    with pytest.raises(TooMuchSchemaWork):
        await checking.checks.conforms(text({"type": ["array", "string"]}), value)
    assert process in checking.processes()
    assert peak(process) - before < 32


def peak(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@pytest.mark.parametrize(("members", "sent"), [(499, 500), (500, 0)], ids=["as many as may be", "one more"])
def test_what_is_found_of_a_schema_is_sent_up_to_its_limit(members: int, sent: int) -> None:
    schema = {"properties": {f"p{number}": {"minLength": number} for number in range(members)}}
    surveyed = answer(SurveySchema(text(schema)))
    assert isinstance(surveyed, SchemaSurvey)
    assert len(surveyed.locations) == sent
