"""The list of reasons follows its schema, equals the types and the error documents, and says what it must say."""

import json
import re
from typing import Any

import pytest

from aop.contracts.documents import document
from aop.contracts.errors import Conflict, DependencyFailed, ErrorCode, Reason, Refusal, Relayed, reason_pairs
from aop.contracts.lineage import EventType
from aop.contracts.recovery import recovery_of
from aop.ledger.model import Terminal
from tests.support.contracts import CONTRACTS, definitions_of
from tests.support.every import every

LIST: list[dict[str, Any]] = json.loads((CONTRACTS / "platform-error" / "reasons.json").read_bytes())["reasons"]
# The specification's own table; the list may hold more.
SPECIFIED = {
    "AGENT_UNAVAILABLE": "name_not_resolved connect_failed tls_failed transfer_broken http_redirect http_auth"
    " http_client_error http_server_error",
    "ROUTE_NOT_FOUND": "address_refused streaming_not_declared",
    "AGENT_EXECUTION_FAILED": "task_failed task_rejected input_required auth_required rpc_error rpc_method_not_found"
    " rpc_version_not_supported",
    "A2A_PROTOCOL_ERROR": "media_type not_json rpc_envelope message_shape task_shape task_changed task_state_unknown"
    " stream_order artifact_order artifact_replaced stream_ended_early output_schema",
    "AGENT_RESPONSE_TOO_LARGE": "body_size event_size frame_size schema_work",
    "PAYLOAD_TOO_LARGE": "body_size input_size schema_work",
    "DEPENDENCY_ERROR": "acceptance_unknown router_unreachable store_unavailable outcome_unknown router_restarted"
    " control_plane_unreachable",
    "CONFLICT": "already_installed already_exists state_changed parent_not_running not_numbered_yet",
    "NOT_FOUND": "workspace_unknown archived",
    "AGENT_NOT_INSTALLED": "not_installed",
    "CAPABILITY_NOT_ALLOWED": "skill_unknown permission_not_accepted",
    "FORBIDDEN": "not_owner not_caller depth_limit fan_out_limit",
    "UNAUTHENTICATED": "sign_in_code",
}
OPEN = frozenset[str]()
"""Words whose part of the product does not exist yet."""
# The Agent may have begun, so somebody who repeats the call may have the work done twice.
MAY_HAVE_WORKED = ("transfer_broken", "http_server_error", "stream_ended_early", "outcome_unknown")


def test_the_list_follows_its_schema_and_gives_every_pair_once() -> None:
    whole = json.loads((CONTRACTS / "platform-error" / "reasons.json").read_bytes())
    assert document("reasons/1").violations(whole) == ()
    pairs = [(code, entry["reason"]) for entry in LIST for code in entry["codes"]]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == reason_pairs()


def test_the_enum_has_the_words_of_the_list_in_its_order() -> None:
    assert list(dict.fromkeys(entry["reason"] for entry in LIST)) == list(Reason)


@every("code", SPECIFIED)
def test_every_reason_of_the_specification_stands_beside_its_code(code: str) -> None:
    assert {(code, word) for word in SPECIFIED[code].split()} <= reason_pairs()


def test_a_platform_error_allows_exactly_the_pairs_of_the_list() -> None:
    definitions = definitions_of("platform-error:2")
    assert definitions["reason"]["enum"] == list(Reason)
    for envelope in ("2", "3", "4"):
        codes = definitions_of(f"platform-error:{envelope}")
        allowed = {
            (code, reason)
            for code in codes["code" if envelope != "4" else "codeBeforeAcceptance"]["enum"]
            for reason in Reason
            if document(f"platform-error/{envelope}").is_valid(_error(code, reason))
        }
        assert allowed == {pair for pair in reason_pairs() if envelope_has(envelope, pair[0])}


def test_a_record_allows_exactly_the_pairs_that_a_terminal_may_carry() -> None:
    record = json.loads((CONTRACTS / "invocation-record/2/examples/valid/failed.json").read_bytes())
    failures = definitions_of("invocation-event:0.3")
    codes = failures["failureCode"]["enum"]
    checked = document("invocation-record/2")
    allowed = {(c, r) for c in codes for r in Reason if checked.is_valid({**record, "errorCode": c, "reason": r})}
    assert allowed == {pair for pair in reason_pairs() if pair[0] in codes}


def test_the_product_gives_every_reason_but_those_that_are_still_open() -> None:
    """Wrong in both directions: a part that is built takes its words off the list, and no word is forgotten."""
    product = CONTRACTS.parent / "src" / "aop"
    # These name all words, or say which command helps after one.
    others = {product / "contracts" / "errors.py", product / "cli" / "platform.py"}
    given = {
        Reason[name]
        for path in sorted(set(product.rglob("*.py")) - others)
        for name in re.findall(r"\bReason\.([A-Z_]+)\b", path.read_text("utf-8"))
    }
    assert set(Reason) - given == OPEN


def test_every_pair_has_a_sentence_an_owner_and_a_next_step() -> None:
    for code, reason in reason_pairs():
        found = recovery_of(code, reason)
        assert (found.sentence or "").endswith(".")
        assert found.action.endswith(".")


@pytest.mark.parametrize("word", MAY_HAVE_WORKED)
def test_a_sentence_says_that_work_may_have_been_done_where_the_agent_may_have_begun(word: str) -> None:
    (entry,) = [entry for entry in LIST if entry["reason"] == word]
    assert "may have done" in entry["sentence"]


def test_no_next_step_suggests_a_repetition_where_the_agent_may_have_begun() -> None:
    """These say what to find out first; a plain "invoke again" or "retry" stands beside none of them."""
    for entry in LIST:
        if "may have done" in entry["sentence"]:
            said = entry["action"].lower()
            assert "retry" not in said
            assert "again" not in said or "before" in said, entry["reason"]


def test_the_next_step_after_a_code_suggests_no_repetition_where_the_agent_may_have_begun() -> None:
    """Some errors have no reason; for codes of an accepted Invocation the same holds of the code alone."""
    before = {*definitions_of("platform-error:4")["codeBeforeAcceptance"]["enum"], "ROUTE_NOT_FOUND"}
    for code in set(ErrorCode) - before:
        said = recovery_of(code, None).action
        assert "again" not in said or "before" in said, code


@pytest.mark.rows("REAS-03")
@pytest.mark.parametrize("reason", [Reason.RPC_METHOD_NOT_FOUND, Reason.RPC_VERSION_NOT_SUPPORTED])
def test_the_next_step_for_an_agent_of_another_protocol_version_names_the_front(reason: Reason) -> None:
    assert "`aop front`" in recovery_of(ErrorCode.AGENT_EXECUTION_FAILED, reason).action


@pytest.mark.rows("SAFE-12")
def test_the_sentence_of_an_unknown_acceptance_says_how_to_learn_whether_it_runs() -> None:
    found = recovery_of(ErrorCode.DEPENDENCY_ERROR, Reason.ACCEPTANCE_UNKNOWN)
    for words in ("Trace read", "whether one exists", "not found", "at least 30 s after", "/v1/status", "Router ok"):
        assert words in (found.sentence or "")
    assert "repeating the call may run it twice" in (found.sentence or "")


def test_a_reason_that_does_not_belong_to_its_code_is_unbuildable() -> None:
    for build in (
        lambda: Conflict("text", reason=Reason.INPUT_SIZE),
        lambda: Relayed(ErrorCode.AGENT_DISABLED, reason=Reason.NOT_INSTALLED),
        lambda: Terminal(EventType.FAILED, ErrorCode.AGENT_UNAVAILABLE, Reason.BODY_SIZE),
        lambda: Terminal(EventType.SUCCEEDED, None, Reason.BODY_SIZE),
        lambda: Terminal(EventType.TIMED_OUT, ErrorCode.TIMEOUT, Reason.SCHEMA_WORK),
    ):
        with pytest.raises(ValueError, match=r"carry|no reason of"):
            build()


def test_a_refusal_has_a_reason_only_when_one_is_given() -> None:
    given: Refusal = DependencyFailed("text", reason=Reason.ACCEPTANCE_UNKNOWN)
    assert given.reason is Reason.ACCEPTANCE_UNKNOWN
    assert DependencyFailed("text").reason is None


def envelope_has(envelope: str, code: str) -> bool:
    definitions = definitions_of(f"platform-error:{envelope}")
    return code in definitions["code" if envelope != "4" else "codeBeforeAcceptance"]["enum"]


def _error(code: str, reason: str) -> dict[str, str]:
    return {"code": code, "message": "text", "reason": reason, "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"}
