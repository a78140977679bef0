"""The A2A stream vectors against the Router's reading of a stream."""

import json
from typing import Any

import pytest

from aop.a2a.answers import STREAM_KINDS, AgentFault, read_result
from aop.a2a.judge import AgentCanceled, StreamRules, TrackedTask
from aop.contracts.errors import ErrorCode, Reason
from tests.support.every import every
from tests.support.vectors import VECTORS, code_and_reason

CASES: list[dict[str, Any]] = json.loads((VECTORS / "a2a-stream.json").read_bytes())["cases"]


def played(case: dict[str, Any]) -> tuple[list[Any], dict[str, str], bool]:
    """Chunks, outcome and whether tasks/cancel is sent, as the Router would have it."""
    known, chunks = TrackedTask("inv_0"), []
    rules = StreamRules(known)
    leaves_task = True
    outcome = {"status": "succeeded"}
    try:
        for result in case["results"]:
            envelope = json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode()
            chunks += [json.loads(chunk) for chunk in rules.take(read_result(envelope, "1", STREAM_KINDS))]
            if rules.completed:
                break
        if not rules.completed:
            if case["end"] == "broken":
                raise AgentFault(ErrorCode.AGENT_UNAVAILABLE, Reason.TRANSFER_BROKEN, leaves_task=False)
            rules.end()
    except AgentCanceled:
        outcome = {"status": "canceled", "code": "CANCELED"}
    except AgentFault as fault:
        outcome, leaves_task = {"status": "failed", **code_and_reason(fault)}, fault.leaves_task
    return chunks, outcome, leaves_task and known.may_run


@pytest.mark.rows("STR-03", "STR-04", "STR-05", "STR-06", "STR-07", "STR-08")
@every("case", CASES, ids=[case["name"] for case in CASES])
def test_a_stream_is_read_as_the_vectors_say(case: dict[str, Any]) -> None:
    chunks, outcome, cancels = played(case)
    assert outcome == case["outcome"]
    assert chunks == case["chunks"]
    assert cancels == case["cancelsTask"]
