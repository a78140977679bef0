"""At a terminal: questions, hidden tokens, colours and progress; none of them where nobody watches."""

from pathlib import Path

import pytest

from tests.cli.conftest import Aop, Stack
from tests.cli.terminal import CTRL_C, at_terminal

pytestmark = pytest.mark.second_ring

COLOUR = "\x1b[3"


def test_a_person_is_asked_before_an_agent_is_installed(stack: Stack, aop: Aop, workspace: str, tmp_path: Path) -> None:
    arguments, data = ("install", "aop:summarizer", "-w", workspace), stack.platform.data
    declined = at_terminal(*arguments, answers={"[y/N]": "n\n"}, folder=tmp_path, data=data)
    assert (declined.code, "nothing was installed" in declined.screen) == (1, True)
    assert "Read the texts given to the Agent." in declined.screen
    accepted = at_terminal(*arguments, answers={"[y/N]": "y\n"}, folder=tmp_path, data=data)
    assert accepted.code == 0
    (made,) = aop("installations", "-w", workspace, "--json").json["items"]
    assert made["acceptedPermissions"] == ["text.read"]


def test_a_token_that_is_typed_is_not_shown(stack: Stack, tmp_path: Path) -> None:
    gateway = stack.run["gateway"]
    asked = at_terminal("login", "--gateway", gateway, answers={"Access token": f"{stack.token}\n"}, folder=tmp_path)
    assert asked.code == 0
    assert stack.token not in asked.screen
    assert "logged in" in asked.screen


def test_output_is_coloured_at_a_terminal_and_plain_with_no_color_or_elsewhere(
    stack: Stack, aop: Aop, tmp_path: Path
) -> None:
    data = stack.platform.data
    assert COLOUR in at_terminal("status", folder=tmp_path, data=data).screen
    plain = at_terminal("installations", "-w", "demo", folder=tmp_path, data=data, NO_COLOR="1").screen
    assert "\x1b" not in plain
    assert "\x1b" not in aop("status").out


def test_progress_is_shown_at_a_terminal_only(stack: Stack, aop: Aop, tmp_path: Path) -> None:
    shown = at_terminal("search", folder=tmp_path, data=stack.platform.data).screen
    assert "searching" in shown
    assert "searching" not in aop("search").err


def test_prose_is_folded_under_its_own_column(stack: Stack, tmp_path: Path) -> None:
    shown = at_terminal(
        "agent", "show", "aop:summarizer", folder=tmp_path, data=stack.platform.data, NO_COLOR="1"
    ).screen
    line = next(line for line in shown.splitlines() if "summarize " in line and "Gives" in line)
    after = shown.splitlines()[shown.splitlines().index(line) + 1]
    assert len(line) <= 100
    assert after.startswith(" " * line.index("Summarize:"))


def test_an_input_is_asked_for_by_its_forms(stack: Stack, tmp_path: Path) -> None:
    ended = at_terminal("invoke", "aop:summarizer", "summarize", folder=tmp_path, data=stack.platform.data)
    assert (ended.code, "@FILE" in ended.screen) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("install", "aop:action-items", "-w", "demo"), "[y/N]"),
        (("login", "--gateway", "http://127.0.0.1:9"), "Access token"),
    ],
)
def test_one_ctrl_c_at_a_question_ends_with_130(
    stack: Stack, tmp_path: Path, arguments: tuple[str, ...], question: str
) -> None:
    ended = at_terminal(*arguments, answers={question: CTRL_C}, folder=tmp_path, data=stack.platform.data)
    assert ended.code == 130
    assert "Traceback" not in ended.screen
