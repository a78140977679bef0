"""The commands that read what ran: Invocations, Traces, figures, and the lineage as a tree."""

import re

import pytest

from tests.cli.conftest import Aop
from tests.cli.test_invoke import SUMMARIZE, TEXT

pytestmark = pytest.mark.second_ring


def test_invocations_are_listed_by_filter_and_shown_with_their_events(aop: Aop) -> None:
    assert aop(*SUMMARIZE, TEXT).code == 0
    made = aop(*SUMMARIZE, TEXT, "--stream", "--json").lines[0]
    listed = aop("invocations", "--agent", "aop:summarizer", "-c", "summarize", "--status", "succeeded", "--json").json
    assert made["invocationId"] in [item["invocationId"] for item in listed["items"]]
    assert made["invocationId"] in aop("invocations").out
    assert aop("invocations", "--until", "2020-01-01T00:00:00Z").out == "nothing was invoked\n"
    assert aop("invocations", "--since", "yesterday").code == 2
    assert "there are more" in aop("invocations", "--limit", "1").err
    detail = aop("invocations", made["invocationId"], "--json").json
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "stream", "succeeded"]
    shown = aop("invocations", made["invocationId"]).out
    for text in ("aop:summarizer 1.0.0", "user local", "succeeded", "chunks"):
        assert text in shown.lower()
    assert aop("invocations", "inv_unknown", "--json").error["code"] == "NOT_FOUND"


def tree(out: str) -> list[str]:
    """The branches and names, without outcome, time and bar."""
    return [re.split(r"  +(?:succeeded|canceled|failed)", line)[0] for line in out.splitlines()[1:]]


def test_figures_count_by_outcome_agent_and_time(aop: Aop) -> None:
    assert aop("invoke", "aop:summarizer", "rank-sentences", TEXT).code == 0
    shown = aop("figures", "--last", "15m").out
    assert [text for text in ("calls", "p99", "aop:summarizer", "FROM") if text not in shown] == []
    document = aop("figures", "--json").json
    assert (document["step"], len(document["buckets"])) == (60, 60)
    assert document["total"]["counts"]["succeeded"] >= 1
    before = ("--since", "2020-01-01T00:00:00Z", "--until", "2020-01-02T00:00:00Z", "--step", "3600")
    assert "nothing was invoked" in aop("figures", *before).out
    assert aop("figures", "--last", "1h", *before).code == 2
    assert aop("figures", "--since", "yesterday").code == 2
    assert "/step" in aop("figures", "--step", "61").err


def test_a_trace_shows_who_called_whom_as_a_tree_with_times(aop: Aop) -> None:
    nested = aop("invoke", "aop:meeting-brief", "brief-meeting", "--example", "--json").json
    shown = aop("trace", nested["traceId"]).out
    assert shown.splitlines()[0].startswith(f"trace {nested['traceId']}  3 Invocations, ")
    root, *children = tree(shown)
    assert root == "aop:meeting-brief brief-meeting"
    assert {child[3:] for child in children} == {"aop:summarizer summarize", "aop:action-items extract-action-items"}
    assert [child[:3] for child in children] == ["├─ ", "└─ "]
    assert all(re.search(r"\d+ ms  +[█▏]", line) for line in shown.splitlines()[1:])
    assert aop("trace", nested["invocationId"]).out == shown
    assert aop("trace", "--last").out == shown
    document = aop("trace", nested["traceId"], "--json").json
    assert (document["traceId"], len(document["invocations"])) == (nested["traceId"], 3)


def test_the_lineage_can_be_shown_right_after_the_result(aop: Aop) -> None:
    result, trace = aop("invoke", "aop:meeting-brief", "brief-meeting", "--example", "--trace", "--json").lines
    assert (trace["traceId"], len(trace["invocations"])) == (result["traceId"], 3)


@pytest.mark.rows("FIND-04")
def test_traces_are_listed_one_line_each_with_their_calls(aop: Aop) -> None:
    nested = aop("invoke", "aop:meeting-brief", "brief-meeting", "--example", "--json").json
    heading, newest, *_ = aop("traces", "--limit", "3").out.splitlines()
    assert heading.split() == ["CREATED", "STATUS", "TIME", "CALLS", "FAILED", "AGENT", "CAPABILITY", "TRACE"]
    assert re.search(rf"succeeded +\d+ ms +3 +aop:meeting-brief +brief-meeting +{nested['traceId']}$", newest)
    (item,) = aop("traces", "--trace", nested["traceId"], "--slowest", "--json").json["items"]
    assert (item["root"]["invocationId"], item["invocations"], item["failures"]) == (nested["invocationId"], 3, 0)
    assert len(aop("invocations", "--trace", nested["traceId"], "--json").json["items"]) == 3
    (root,) = aop("invocations", "--trace", nested["traceId"], "--root", "--json").json["items"]
    assert root == item["root"]
    assert aop("traces", "--until", "2020-01-01T00:00:00Z").out == "nothing was invoked\n"
    assert "--error must be one of A2A_PROTOCOL_ERROR, " in aop("traces", "--error", "none").err
    assert aop("invocations", "--reason", "none").code == 2
    assert aop("invocations", "--error", "TIMEOUT", "--reason", "connect_failed", "--json").json == {"items": []}


def test_a_trace_that_is_not_there_is_told(aop: Aop, workspace: str) -> None:
    assert aop("trace", "0" * 31 + "1", "--json").error["code"] == "NOT_FOUND"
    empty = aop("trace", "--last", "-w", workspace)
    assert (empty.code, "nothing was invoked" in empty.err) == (1, True)
    assert aop("trace").code == 2
    assert aop("trace", "0" * 31 + "1", "--last").code == 2
