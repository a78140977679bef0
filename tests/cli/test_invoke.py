"""`aop invoke`: inputs, results, streams, failures, Ctrl-C."""

import json
import re
import signal
from pathlib import Path

import pytest

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.recovery import recovery_of
from tests.cli.conftest import Aop, Greeter, Stack
from tests.cli.programs import program, wait_written
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

TEXT = '{"text": "Tea is grown in hills. Tea needs rain.", "sentences": 1}'
SUMMARIZE = ("invoke", "aop:summarizer", "summarize")


def test_the_result_is_written_and_the_rest_is_beside_it(aop: Aop) -> None:
    done = aop("invoke", "aop:summarizer", "summarize", TEXT)
    assert (done.code, done.out) == (0, "Tea is grown in hills.\n")
    assert re.search(r"succeeded in .*: inv_[0-9a-f]{32}, trace [0-9a-f]{32}", done.err)


def test_the_input_may_be_an_argument_a_file_or_the_standard_input(aop: Aop, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text(TEXT)
    answers = {
        aop(*SUMMARIZE, TEXT).out,
        aop(*SUMMARIZE, f"@{tmp_path / 'input.json'}").out,
        aop(*SUMMARIZE, "-", stdin=TEXT).out,
        aop(*SUMMARIZE, stdin=TEXT).out,
    }
    assert answers == {"Tea is grown in hills.\n"}


def test_where_an_agent_has_one_skill_its_name_may_be_left_out(aop: Aop) -> None:
    assert "Alice" in aop("invoke", "aop:action-items", "--example").out
    assert '"items"' in aop("invoke", "aop:action-items", '{"notes": "Bob will call."}').out
    several = aop("invoke", "aop:summarizer", TEXT)
    assert (several.code, "rank-sentences" in several.err) == (2, True)


def test_with_json_the_result_is_the_contracts_document(aop: Aop) -> None:
    result = aop(*SUMMARIZE, TEXT, "--json").json
    assert (result["schemaVersion"], result["status"], result["result"]) == ("1", "succeeded", "Tea is grown in hills.")


@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        ("{", "json_syntax"),
        (' {"a": 1, "a": 2}', "duplicate_member"),
        ("{hello}", "--text"),
    ],
)
def test_an_input_that_begins_as_an_object_and_is_no_strict_json_is_not_sent(aop: Aop, stdin: str, said: str) -> None:
    done = aop(*SUMMARIZE, "-", stdin=stdin)
    assert (done.code, said in done.err) == (2, True)


def test_an_input_file_that_is_not_there_and_two_inputs_are_told(aop: Aop) -> None:
    assert "nowhere.json cannot be read" in aop(*SUMMARIZE, "@nowhere.json").err
    assert aop(*SUMMARIZE, TEXT, "--example").code == 2


def test_an_input_the_skill_does_not_take_is_told_by_place(aop: Aop) -> None:
    done = aop(*SUMMARIZE, '{"words": 1}')
    assert done.code == 1
    for text in ("VALIDATION_ERROR", "/input/text: required", "what to do", "trace"):
        assert text in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "reason", "recovery"),
    [
        (("nobody:nothing", "summarize"), "AGENT_NOT_INSTALLED", "not_installed", "aop install"),
        (("aop:summarizer", "sing"), "CAPABILITY_NOT_ALLOWED", "skill_unknown", "aop agent show"),
    ],
)
def test_a_refusal_is_told_with_its_code_and_the_command_that_helps(
    aop: Aop, arguments: tuple[str, str], code: str, reason: str, recovery: str
) -> None:
    refused = aop("invoke", *arguments, TEXT, "--json")
    assert (refused.code, refused.out, refused.error["code"], refused.error["reason"]) == (1, "", code, reason)
    assert recovery in refused.error["recovery"]
    assert "invocationId" not in refused.error


def test_a_reason_is_told_with_its_sentence_and_its_next_step(aop: Aop, tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_text(json.dumps({"text": "x" * 1_048_576}))
    told = aop(*SUMMARIZE, f"@{large}", "--json").error
    found = recovery_of(ErrorCode.PAYLOAD_TOO_LARGE, Reason.BODY_SIZE)
    assert (told["code"], told["reason"]) == ("PAYLOAD_TOO_LARGE", "body_size")
    assert (told["sentence"], told["recovery"]) == (found.sentence, found.action)
    shown = aop(*SUMMARIZE, f"@{large}").err
    assert f"reason      body_size: {found.sentence}" in shown
    assert f"what to do  {found.action}" in shown


def test_a_disabled_installation_names_the_command_that_enables_it(aop: Aop, workspace: str) -> None:
    aop("install", "aop:summarizer", "-w", workspace, "--yes")
    aop("disable", "aop:summarizer", "-w", workspace)
    refused = aop(*SUMMARIZE, TEXT, "-w", workspace, "--json")
    assert (refused.error["code"], "aop enable" in refused.error["recovery"]) == ("INSTALLATION_DISABLED", True)


def test_a_stream_is_shown_as_it_comes_and_ends_its_line(aop: Aop) -> None:
    done = aop(*SUMMARIZE, TEXT, "--stream")
    assert (done.code, done.out) == (0, "Tea is grown in hills.\n")
    values = aop("invoke", "aop:action-items", "--example", "--stream").out.splitlines()
    assert [len(json.loads(value)["items"]) for value in values] == [1, 1, 1]


def test_with_json_a_stream_is_an_event_per_line(aop: Aop) -> None:
    events = aop(*SUMMARIZE, TEXT, "--stream", "--json").lines
    assert [event["sequence"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("accepted", "completed")


def failing(greeter: Greeter) -> str:
    """A Card whose outputSchema the Agent's answers do not follow."""
    card = json.loads((greeter.project / "card.json").read_text())
    skills = [card["skills"][0] | {"outputSchema": {"type": "integer"}}]
    return greeter.card(skills=skills)[0]


@pytest.mark.parametrize("stream", [True, False])
def test_a_failure_after_acceptance_is_told_with_both_ids_and_its_lineage_can_be_read(
    aop: Aop, greeter: Greeter, workspace: str, stream: bool
) -> None:
    agent = aop("publish", failing(greeter), "--json").json["agentId"]
    aop("install", agent, "-w", workspace, "--yes")
    mode = ["--stream"] if stream else []
    failed = aop("invoke", agent, '{"name": "Ada"}', "-w", workspace, "--trace", *mode)
    assert failed.code == 1
    assert re.search(r"A2A_PROTOCOL_ERROR: .*\n(.*\n)*  invocation  inv_\w+\n  trace       \w+", failed.err)
    assert f"{agent} greet  failed A2A_PROTOCOL_ERROR" in failed.out
    told = aop("invoke", agent, '{"name": "Ada"}', "-w", workspace, "--json", *mode)
    assert (told.error["code"], told.error["invocationId"][:4]) == ("A2A_PROTOCOL_ERROR", "inv_")


def test_what_others_write_cannot_steer_the_terminal(aop: Aop) -> None:
    text = json.dumps({"text": "Tea \x1b[31mis\x07 red.", "sentences": 1})
    assert aop(*SUMMARIZE, text).out == "Tea \ufffd[31mis\ufffd red.\n"
    assert "\\u001b" in aop(*SUMMARIZE, text, "--json").out


SLOW = json.dumps({"text": "word " * 200, "wordsPerMinute": 120})


@pytest.mark.parametrize("stream", [True, False])
def test_ctrl_c_cancels_the_invocation_and_says_so(aop: Aop, stack: Stack, tmp_path: Path, stream: bool) -> None:
    log, data = tmp_path / "log", stack.platform.data
    mode = ["--stream"] if stream else []
    with program("invoke", "aop:summarizer", "read-aloud", SLOW, *mode, data=data, log=log) as process:
        if stream:
            wait_written(log, "word")
        else:
            running(aop)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 130
    assert "canceled" in log.read_text()
    assert "Traceback" not in log.read_text()
    newest = latest(aop)
    assert (newest["capability"], newest["status"]) == ("read-aloud", "canceled")


def latest(aop: Aop) -> dict[str, str]:
    """The newest Invocation, once it has ended."""
    for _ in range(100):
        newest: dict[str, str] = aop("invocations", "--limit", "1", "--json").json["items"][0]
        if newest["status"] not in {"pending", "routing", "running"}:
            break
    return newest


def running(aop: Aop) -> None:
    for _ in range(200):
        if aop("invocations", "--status", "running", "--limit", "1", "--json").json["items"]:
            return
    raise AssertionError("nothing runs")


@pytest.mark.parametrize("mode", [(), ("--stream",)])
def test_a_time_limit_of_the_caller_cancels(aop: Aop, mode: tuple[str, ...]) -> None:
    late = aop("invoke", "aop:summarizer", "read-aloud", SLOW, "--timeout", "0.5", "--json", *mode)
    assert (late.code, late.error["code"]) == (1, "timeout")
    assert latest(aop)["status"] == "canceled"
