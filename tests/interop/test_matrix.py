"""`./dev interop` names every call that came to something else than it must, and its table has one line per Agent."""

import pytest

from interop.callers import CALLERS
from interop.door import REQUIRED, callers_table, plan_for, problems
from interop.frameworks import FRAMEWORKS, Framework, Way
from interop.matrix import Results, requirements, table

GUARDED = Framework("guarded", "a2a-sdk", "a2a-sdk-0.3", "0.3", Way.GUARD)
FRONTED = Framework("fronted", "a2a-sdk", "a2a-sdk-1", "1.0", Way.FRONT)
JSON_ONLY = Framework("json-only", "fasta2a", "pydantic-ai", "0.3", Way.GUARD, streams=False)


@pytest.mark.parametrize(
    ("framework", "call", "outcome", "misses"),
    [
        (GUARDED, "answer", "ok", False),
        (GUARDED, "answer", "wrong reply: You said", True),
        (GUARDED, "stream", "A2A_PROTOCOL_ERROR (artifact_order)", True),
        (GUARDED, "error", "AGENT_EXECUTION_FAILED (rpc_error)", False),
        (GUARDED, "error", "ok", True),
        (GUARDED, "cancel", "canceled, Agent not told", False),
        (FRONTED, "cancel", "canceled, Agent not told", True),
        (FRONTED, "cancel", "canceled, Agent told", False),
        (GUARDED, "cancel_in_stream", "failed, Agent told", True),
        (GUARDED, "time_limit", "TIMEOUT", False),
    ],
)
def test_an_outcome_that_must_not_be_is_named(framework: Framework, call: str, outcome: str, misses: bool) -> None:
    assert bool(list(Results(framework, {call: outcome}).misses())) is misses


def test_an_agent_that_could_not_be_published_is_named() -> None:
    assert list(Results(GUARDED, problem="it does not serve").misses()) == ["guarded: it does not serve"]


def test_streams_are_asked_only_of_agents_that_stream() -> None:
    assert set(requirements(JSON_ONLY)) == {"answer", "error", "cancel", "time_limit"}


def test_the_table_has_a_line_for_each_agent_with_its_locked_versions() -> None:
    head, rule, *lines = table([Results(framework) for framework in FRAMEWORKS])
    assert {line.count("|") for line in [head, rule, *lines]} == {head.count("|")}
    assert len(lines) == len({framework.name for framework in FRAMEWORKS})
    assert all(any(mark.isdigit() for mark in framework.packages) for framework in FRAMEWORKS)


def test_every_call_at_the_door_has_its_requirement() -> None:
    assert [planned["name"] for planned in plan_for("chat", "typed")] == list(REQUIRED)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"states": ["completed"]}, "state is 'completed', and not 'failed'"),
        ({"facts": {"code": "A2A_PROTOCOL_ERROR"}}, "facts is"),
        ({"read": "completed"}, "the Ledger says completed"),
        ({"context": "other"}, "the context is 'other'"),
        ({"error": {"kind": "Broken", "text": "no", "facts": None}}, "error is"),
    ],
)
def test_a_call_at_the_door_that_came_to_something_else_is_named(changed: dict[str, object], named: str) -> None:
    facts = {"code": "A2A_PROTOCOL_ERROR", "reason": "stream_ended_early", "traceId": "t"}
    good = {"states": ["working", "failed"], "values": ["a"], "error": None, "facts": facts, "context": "ctx-1"}
    assert not [one for one in problems(CALLERS[0], {"early end": good}) if one.startswith("early end")]
    found = [one for one in problems(CALLERS[0], {"early end": {**good, **changed}}) if one.startswith("early end")]
    assert any(named in one for one in found)


def test_the_table_of_clients_has_their_locked_versions() -> None:
    head, rule, *lines = callers_table({caller: {} for caller in CALLERS})
    assert {line.count("|") for line in [head, rule, *lines]} == {head.count("|")}
    assert all(any(mark.isdigit() for mark in line) for line in lines)
