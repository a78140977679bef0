"""Wrong on purpose: what a command says when a name, an address, a file or an input is wrong, on one platform."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aop.cli.shell.input_forms import form_of
from aop.cli.shell.similar import similar
from tests.cli.conftest import Aop, Stack
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

TEXT = '{"text": "Tea is grown in hills. Tea needs rain."}'
SUMMARIZER = "aop:summarizer"
# The arguments of a command, the code of the problem, and what its text holds. What comes behind ! is not in it.
WRONG: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "agent to invoke": (
        ("invoke", "aop:sumarizer", "summarize", TEXT),
        "AGENT_NOT_INSTALLED",
        ("reason      not_installed", "did you mean aop:summarizer?", "!aop install aop:sumarizer"),
    ),
    "agent without a skill": (
        ("invoke", "aop:sumarizer", "--example"),
        "AGENT_NOT_INSTALLED",
        ("did you mean aop:summarizer?", "!aop install aop:sumarizer"),
    ),
    "agent like none": (("invoke", "xyz:qqqq", "go", "{}"), "AGENT_NOT_INSTALLED", ("aop search", "!did you mean")),
    "agent to install": (
        ("install", "aop:sumarizer"),
        "NOT_FOUND",
        ("reason      agent_unknown", "the Agent is aop:sumarizer; did you mean aop:summarizer?"),
    ),
    "agent to show": (("agent", "show", "aop:meting-brief"), "NOT_FOUND", ("did you mean aop:meeting-brief?",)),
    "skill": (
        ("invoke", SUMMARIZER, "sumarize", TEXT),
        "CAPABILITY_NOT_ALLOWED",
        ("reason      skill_unknown", "the Skill is sumarize; did you mean summarize?", "aop:summarizer offers "),
    ),
    "skill of an example": (("invoke", SUMMARIZER, "sumarize", "--example"), "error", ("did you mean summarize?",)),
    "workspace": (
        ("installations", "--workspace", "demmo"),
        "NOT_FOUND",
        ("reason      workspace_unknown", "the Workspace is demmo; did you mean demo?", "you may use "),
    ),
    "workspace to use": (("workspace", "use", "nope"), "NOT_FOUND", ("the Workspace is nope", "you may use ")),
    "workspace id": (
        ("installations", "--workspace", "no spaces"),
        "VALIDATION_ERROR",
        ("/workspaceId: path_value", "a Workspace id: 1 to 128 letters, digits and . _ : -"),
    ),
    "new workspace id": (
        ("workspace", "create", "_x"),
        "VALIDATION_ERROR",
        ("/workspaceId: pattern", "a Workspace id: 1 to 128 letters"),
    ),
    "trace id": (("trace", "77"), "VALIDATION_ERROR", ("/traceId: path_value", "32 lowercase hex digits")),
    "input": (
        ("invoke", SUMMARIZER, "summarize", '{"text": 7}'),
        "VALIDATION_ERROR",
        ("/input/text: type, another JSON type is needed here: a text",),
    ),
    "broken JSON": (("invoke", SUMMARIZER, "summarize", '{\n "text": }'), "error", ("line 2, column 10",)),
    "repeated member": (
        ("invoke", SUMMARIZER, "summarize", '{"a": 1, "a": 2}'),
        "error",
        ("duplicate_member", "named twice"),
    ),
    "command": (("invok",), "Error", ("Did you mean 'invoke'?",)),
    "option": (("invoke", SUMMARIZER, "--straem"), "Error", ("'--stream'",)),
    "range": (("install", SUMMARIZER, "--version", "x.y"), "error", ("is not a version or a range", "for example")),
    "no version in the range": (
        ("install", SUMMARIZER, "--version", "^9"),
        "NOT_FOUND",
        ("no installable version in the range ^9",),
    ),
    "file": (("invoke", SUMMARIZER, "summarize", "@nowhere.json"), "error", ("nowhere.json cannot be read",)),
    "permission": (("install", SUMMARIZER, "--accept", "x"), "error", ("does not ask for x", "it asks for ")),
    "no terminal": (("install", SUMMARIZER), "error", ("nothing was installed", "--yes")),
    "status": (("invocations", "--status", "well"), "Error", ("--status",)),
    "days": (("token", "create", "--mine", "--label", "x", "--days", "0"), "Error", ("--days",)),
    "profile": (("status", "--profile", "nope"), "error", ("there is no profile 'nope'", "aop profiles")),
    "data folder": (("status", "--data", "nowhere"), "error", ("nowhere",)),
    "ca file": (("status", "--ca", "nowhere.pem"), "error", ("nowhere.pem cannot be read: No such file",)),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_mistake_is_told_with_what_was_meant(
    aop: Aop, stack: Stack, wrong: tuple[tuple[str, ...], str, tuple[str, ...]]
) -> None:
    arguments, code, texts = wrong
    done = aop(*arguments)
    assert done.code in {1, 2}, done.out + done.err
    assert f"{code}: " in done.err
    for text in texts:
        assert (text.removeprefix("!") in done.err) is not text.startswith("!"), done.err
    assert stack.token not in done.out + done.err


def test_a_hint_is_a_member_of_its_own_for_programs(aop: Aop) -> None:
    error = aop("installations", "--workspace", "demmo", "--json").error
    assert (error["code"], error["reason"]) == ("NOT_FOUND", "workspace_unknown")
    assert "did you mean demo?" in error["hint"]
    (place,) = aop("workspace", "create", "_x", "--json").error["violations"]
    assert place["expected"].startswith("the text does not have the right form: a Workspace id")


def test_an_agent_that_is_published_is_to_be_installed(aop: Aop, workspace: str) -> None:
    done = aop("invoke", SUMMARIZER, "summarize", TEXT, "--workspace", workspace)
    assert (done.code, f"aop install {SUMMARIZER}" in done.err) == (1, True)


@pytest.mark.parametrize("unit", ["router", "door"])
def test_another_unit_given_as_gateway_is_named(alone: Aop, stack: Stack, unit: str) -> None:
    for done in (
        alone("login", "--gateway", stack.run[unit], stdin=stack.token),
        alone("status", AOP_GATEWAY=stack.run[unit], AOP_TOKEN=stack.token),
    ):
        assert done.code == 1
        assert f"this is a {unit.capitalize() if unit == 'router' else unit}, not a Gateway" in done.err
        assert "NOT_FOUND" in done.err


def test_a_gateway_without_a_scheme_is_told_what_to_write(alone: Aop) -> None:
    for done in (
        alone("login", "--gateway", "127.0.0.1:8080", stdin="token"),
        alone("status", AOP_GATEWAY="127.0.0.1:8080", AOP_TOKEN="token"),
    ):
        assert (done.code, "write http:// or https:// before it" in done.err) == (2, True)


def test_bars_and_branches_are_drawn_where_the_encoding_is_narrow(stack: Stack, tmp_path: Path) -> None:
    environment = {
        "PATH": os.defpath,
        "AOP_DATA": str(stack.platform.data),
        "XDG_CONFIG_HOME": str(tmp_path),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
    }
    command = [sys.executable, "-m", "aop", "invoke", "aop:meeting-brief", "digest-meetings", "--example", "--trace"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    drawn = done.stdout[done.stdout.index("trace ") :]
    assert ("#" in drawn or "|" in drawn, "`- " in drawn, "??" in drawn) == (True, True, False), drawn


def test_a_name_like_no_other_has_no_suggestion() -> None:
    assert similar("demo", ["demo"]) is None
    assert similar("zzz", ["demo", "team"]) is None
    assert similar("DEMO", ["demo"]) == "demo"


def test_the_form_of_an_input_is_that_of_its_schema() -> None:
    schema = json.loads(
        '{"properties": {"a": {"$ref": "#/$defs/n"}, "b": {"items": {"enum": [1, "x"]}}, "c": true, "d": {"const": 1}},'
        ' "$defs": {"n": {"type": ["integer", "null"], "minimum": 1}, "loop": {"$ref": "#/$defs/loop"}}}'
    )
    assert form_of(schema, "/a") == "a whole number or null, at least 1"
    assert form_of(schema, "/b/0") == 'one of 1, "x"'
    assert (form_of(schema, "/c"), form_of(schema, "/nowhere"), form_of(schema, "/d")) == (None, None, "1")
    assert form_of({"$ref": "#/$defs/loop", **schema}, "") is None
