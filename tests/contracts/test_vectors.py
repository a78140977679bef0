"""The conformance vectors are complete and agree with the documents they are made of."""

import ipaddress
from typing import Any

import pytest
from msgspec import UNSET

from aop.base import json as strict_json
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode
from aop.contracts.invocation import STATUS_OF_STREAM_EVENT
from aop.contracts.lineage import STATUS_OF_EVENT, TERMINAL_STATUSES, TRANSITIONS, EventType, InvocationStatus
from tests.support.every import every
from tests.support.vectors import MINIMUM, NETWORK_ROWS, VECTORS, cases, each, vectors

_WITHOUT_MINIMUM = {
    *("network.json", "semver-ranges.json", "semver-order.json", "text.json"),
    *("door-message.json", "door-result.json", "door-stream.json", "door-error.json"),
    *("tool-names.json", "tool-schemas.json", "schema-compatibility.json", "ledger-leaf.json", "ledger-bundle.json"),
    "ledger-checkpoint.json",
}


def test_every_vector_file_is_described_and_no_other_exists() -> None:
    files = {path.name for path in VECTORS.glob("*.json")}
    described = (VECTORS / "README.md").read_text("utf-8")
    assert files == {f"{name}.json" for name in MINIMUM} | _WITHOUT_MINIMUM
    assert [name for name in sorted(files) if f"`{name}`" not in described] == []


@every("name", sorted(MINIMUM))
def test_a_vector_file_holds_the_cases_of_section_18_under_distinct_names(name: str) -> None:
    names = [case["name"] for case in cases(name)]
    assert len(names) == len(set(names))
    assert sorted(MINIMUM[name] - set(names)) == []


@pytest.mark.parametrize(
    ("file", "key", "name"),
    [
        ("lifecycle", "events", "invocation-event/0.3"),
        ("stream", "events", "invocation-stream-event/2"),
        ("topology", "frames", "topology-event/1"),
    ],
)
def test_the_values_of_a_sequence_follow_their_document_except_where_the_rule_is_schema(
    file: str, key: str, name: str
) -> None:
    for case in cases(file):
        verdict = case["verdict"] if isinstance(case["verdict"], dict) else case
        broken = [index for index, value in enumerate(case[key]) if not document(name).is_valid(value)]
        assert broken == ([verdict["at"]] if verdict.get("rule") == "schema" else []), case["name"]


@each("lineage")
def test_the_events_of_a_lineage_follow_their_document(case: dict[str, Any]) -> None:
    assert [
        event for event in [*case["parent"], case["child"]] if not document("invocation-event/0.3").is_valid(event)
    ] == []


@each("lifecycle")
def test_a_lifecycle_leaves_the_transition_table_exactly_where_the_vector_says(case: dict[str, Any]) -> None:
    status: InvocationStatus | None = None
    refused = None
    for index, event in enumerate(case["events"]):
        step = EventType(event["type"])
        allowed = TRANSITIONS.get(status, frozenset()) if status else frozenset({EventType.CREATED})
        if step not in allowed:
            refused = index
            break
        status = STATUS_OF_EVENT[step]
    # A second `created` breaks the numbering as well; numbering is looked at first.
    expected = case["at"] if case.get("rule") == "transition" or case["name"] == "created twice" else None
    assert refused == expected


def test_every_transition_of_the_table_ends_in_a_terminal_status_sooner_or_later() -> None:
    reached = {STATUS_OF_EVENT[step] for steps in TRANSITIONS.values() for step in steps}
    assert reached | {InvocationStatus.PENDING} == set(InvocationStatus)
    assert {"succeeded", "failed", "canceled", "timed_out"} == TERMINAL_STATUSES


@each("stream")
def test_a_stream_is_complete_exactly_when_it_ends_with_a_terminal(case: dict[str, Any]) -> None:
    if case["verdict"] == "violation":
        return
    types = [event["type"] for event in case["events"]]
    terminal = bool(types) and types[-1] not in {"accepted", "chunk"}
    assert case["verdict"] == ("complete" if terminal else "interrupted")
    assert [event["sequence"] for event in case["events"]] == list(range(len(types)))
    assert [STATUS_OF_STREAM_EVENT[event["type"]] for event in case["events"]] == [e["status"] for e in case["events"]]


@each("reads")
def test_a_read_follows_its_document_unless_the_rule_is_schema(case: dict[str, Any]) -> None:
    name = "invocation-detail/2" if case["read"] == "detail" else "trace/2"
    assert document(name).is_valid(case["body"]) == (case.get("rule") != "schema")


def test_a_snapshot_frame_of_more_than_500_releases_is_refused() -> None:
    frame = next(case["frames"][0] for case in cases("topology") if case["name"] == "snapshot in one frame")
    entry = frame["releases"][0]
    assert document("topology-event/1").is_valid({**frame, "releases": [entry] * 500})
    assert not document("topology-event/1").is_valid({**frame, "releases": [entry] * 501})


@each("json-rpc")
def test_an_answer_is_read_as_the_envelope_the_result_and_strict_json_say(case: dict[str, Any]) -> None:
    assert _rpc_answer(case["contentType"], case["text"]) == case["verdict"]


@each("a2a-send")
def test_an_exchange_breaks_the_profile_exactly_when_its_outcome_says_so(case: dict[str, Any]) -> None:
    last, code = case["exchanges"][-1], case["outcome"].get("code")
    assert code is None or ErrorCode(code)
    body = last["answer"].get("body", {})
    if last["answer"]["contentType"] == "text/html" or "result" not in body:
        assert code is not None
        return
    assert document("a2a-profile/0.2#response").is_valid(body)
    kind = "sendResult" if last["method"] == "message/send" else "taskResult"
    sound = document(f"a2a-profile/0.2#{kind}").is_valid(body["result"]) and not _is_refused_by_meaning(body["result"])
    # Whether a sound value follows the Skill's outputSchema is not the profile's affair.
    breaks = code == ErrorCode.A2A_PROTOCOL_ERROR and case["outcome"]["reason"] != "output_schema"
    assert sound != breaks


@each("a2a-stream")
def test_a_stream_that_succeeds_follows_the_profile_up_to_its_terminal(case: dict[str, Any]) -> None:
    known = document("a2a-profile/0.2#streamResult")
    if case["outcome"]["status"] == "succeeded":
        until = next((i for i, result in enumerate(case["results"]) if _is_terminal(result)), len(case["results"]) - 1)
        assert [result for result in case["results"][: until + 1] if not known.is_valid(result)] == []
    else:
        assert ErrorCode(case["outcome"]["code"])


@each("tasks")
def test_a_task_exchange_is_a_request_of_the_profile_and_a_well_formed_response(case: dict[str, Any]) -> None:
    assert document("a2a-profile/0.2").is_valid(case["request"])
    assert document("a2a-profile/0.2#response").is_valid(case["answer"])


def test_every_row_of_the_address_tables_has_an_address_inside_its_range() -> None:
    judged = vectors("network")["addresses"]
    assert {row["range"] for row in judged} >= NETWORK_ROWS
    for row in judged:
        if "/" in row["range"] and "outside" not in row["range"]:
            assert ipaddress.ip_address(row["address"]) in ipaddress.ip_network(row["range"])
    assert {row["class"] for row in judged} == {"public", "local", "never"}


def test_a_host_is_dialed_at_an_address_of_its_own_answer_and_only_when_allowed() -> None:
    hosts = vectors("network")["hosts"]
    assert all(("connect" in host) == (host["verdict"] == "allowed") for host in hosts)
    assert all(host["connect"] == host["answer"][0] for host in hosts if "connect" in host)


def test_range_rows_are_distinct_and_name_real_versions() -> None:
    rows = cases("semver-ranges")
    assert len({(row["range"], row["version"]) for row in rows}) == len(rows) >= 80
    assert all(document("definitions/1#agentVersion").is_valid(row["version"]) for row in rows)
    assert {row["verdict"] for row in rows} == {"matches", "excluded", "constraint_syntax"}


def test_the_precedence_list_names_every_version_once_and_sorts_ties_bytewise() -> None:
    groups = vectors("semver-order")["ascending"]
    versions = [version for group in groups for version in group]
    assert len(set(versions)) == len(versions)
    assert all(document("definitions/1#agentVersion").is_valid(version) for version in versions)
    assert all(group == sorted(group) for group in groups)


def _rpc_answer(content_type: str, text: str) -> str:
    try:
        answer: Any = strict_json.parse(text.encode(), strict_json.AGENT_DEPTH)
    except strict_json.JsonRefused:
        return "protocol_error"
    media_type = content_type.partition(";")[0].strip().lower()
    sound = media_type == "application/json" and document("a2a-profile/0.2#response").is_valid(answer)
    if not sound or answer["id"] != "1":
        return "protocol_error"
    if "error" in answer:
        return "error"
    return "result" if document("a2a-profile/0.2#sendResult").is_valid(answer["result"]) else "protocol_error"


def _is_refused_by_meaning(result: dict[str, Any]) -> bool:
    """A Task that is well-formed but not the one asked for, or in no known state, or whose result is no Message."""
    status = result.get("status", {})
    makes_result = status.get("state") == "completed" and not any(one["parts"] for one in result.get("artifacts", []))
    history = result.get("history") or []
    agents = [one for one in history if one["role"] == "agent"] if _is_list_of_objects(history) else [None]
    last = status["message"] if status.get("message") is not None else agents[-1] if agents else UNSET
    said = last if makes_result else UNSET
    return (
        status.get("state") == "unknown"
        or result.get("id", "task-7") != "task-7"
        or (said is not UNSET and not document("a2a-profile/0.2#message").is_valid(said))
    )


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _is_terminal(result: dict[str, Any]) -> bool:
    return result.get("status", {}).get("state") in {"completed", "failed", "rejected", "canceled"}
