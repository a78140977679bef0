"""`./dev interop` names every call that came to something else than it must, and its table has one line per Agent."""

import pytest

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
