"""Every command has help with an example, machine output and a test; listing them costs next to nothing."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from aop import __version__
from aop.cli.commands import COMMANDS, GROUPS
from aop.cli.shell.loading import Entry, help_of
from tests.cli.conftest import Aop
from tests.support.every import every
from tests.support.waiting import PATIENCE_SECONDS

_HERE = Path(__file__).parent
_FUNCTIONS = {"aop", "alone", "program"}
# `aop up` has a folder of tests, and units are started by most others.
_TESTED_ELSEWHERE = {
    "up": "tests/local",
    "control-plane": "tests/units",
    "console": "tests/console",
    "front": "tests/front",
    "door": "tests/door",
    "mcp": "tests/door",
}


@cache
def called_commands() -> set[tuple[str, ...]]:
    """The leading words of every call of the command in these tests."""
    calls: set[tuple[str, ...]] = set()
    for path in _HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
                words = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
                calls |= {tuple(str(word) for word in words[:length]) for length in (1, 2, 3)}
    return calls


@every("entry", COMMANDS, ids=lambda entry: entry.name)
def test_a_command_has_an_example_machine_output_and_a_test(entry: Entry) -> None:
    command = entry.command()
    shown = help_of(entry, entry.function())
    assert f"Example: aop {entry.name}" in shown
    assert entry.summary.endswith(".")
    options = {name for parameter in command.params for name in parameter.opts}
    assert ("--json" in options) is not entry.serves
    assert all(parameter.help for parameter in command.params if parameter.name != "help")
    assert tuple(entry.name.split()) in called_commands() or entry.name in _TESTED_ELSEWHERE


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_help_of_a_command_shows_its_summary_and_its_example_whole(entry: Entry, alone: Aop) -> None:
    shown = alone(*entry.name.split(), "--help", TERMINAL_WIDTH="200", COLUMNS="200")
    assert shown.code == 0
    text = re.sub(r"\s+", " ", shown.out)
    assert entry.summary in text
    examples = re.findall(r"Example: (.*)", help_of(entry, entry.function()))
    for example in examples:
        assert re.sub(r"\s+", " ", example) in text


def test_help_lists_every_command_under_its_panel(alone: Aop) -> None:
    shown = alone("--help").out
    for entry in COMMANDS:
        if " " not in entry.name:
            assert re.search(rf"(?m)^[│ ]+{entry.name} +\w", shown), entry.name
    for group in GROUPS:
        if " " not in group:
            assert re.search(rf"(?m)^[│ ]+{group} +\w", shown)
    for panel in ("Provider", "Consumer", "Operator", "Units", "Local platform"):
        assert re.search(rf"(?m)^(╭─ )?{panel}", shown)


def test_help_loads_neither_the_client_nor_a_server_part() -> None:
    code = (
        "import sys; sys.argv = ['aop', '--help']\n"
        "from aop.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    loaded = set(done.stderr.split())
    assert "click" in loaded
    assert not loaded & {
        "asyncio",
        "msgspec",
        "asyncpg",
        "uvloop",
        "jsonschema_rs",
        "nacl",
        "aop.client",
        "httptools",
    }


def test_whoever_installed_the_commands_alone_is_told_what_an_operators_command_needs() -> None:
    code = (
        "import sys; sys.modules.update(asyncpg=None, uvloop=None, prometheus_client=None, jwt=None)\n"
        "from aop.cli.commands import COMMANDS\n"
        "for entry in COMMANDS:\n"
        "    try: entry.function()\n"
        "    except Exception as ended: print(entry.name)\n"
        "from aop.cli.operator import token\n"
        "for entry in (token._CREATE, token._LIST, token._REVOKE):\n"
        "    try: entry.function()\n"
        "    except Exception as ended: print(entry.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    needing = {
        "up",
        "migrate",
        "control-plane",
        "console",
        "front",
        "door",
        "router close",
        "ledger check",
        "ledger recount",
        *("ledger head", "ledger consistency", "ledger prove", "ledger watch", "ledger watch-key"),
        *("ledger export", "ledger verify", "ledger detach"),
    }
    assert set(done.stdout.splitlines()) == needing | {"token create", "token list", "token revoke"}
    for command, extra in (("migrate", "platform"), ("up", "local"), ("front", "front"), ("door", "door")):
        wheel = f"file:///PATH/agent_operating_platform-{__version__}-py3-none-any.whl"
        line = f"which comes with the extra {extra}: pip install 'agent-operating-platform[{extra}] @ {wheel}'"
        line += " (the package is not on PyPI: `./dev wheel` in a clone of the project builds this file)"
        assert re.search(rf"(?m)^aop {command} needs the package \w+, {re.escape(line)}$", done.stderr)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_of_the_guide_completes_commands_and_options(shell: str) -> None:
    command = [sys.executable, "-m", "aop"]

    def said(**settings: str) -> str:
        settings["PATH"] = os.defpath
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=True, env=settings)
        return done.stdout.decode()

    assert f"_AOP_COMPLETE={shell}_complete" in said(_AOP_COMPLETE=f"{shell}_source")
    asked = {"COMP_WORDS": "aop ledger che", "COMP_CWORD": "che" if shell == "fish" else "2"}
    assert "check" in said(_AOP_COMPLETE=f"{shell}_complete", **asked)


def test_a_misspelt_command_is_answered_with_the_one_that_was_meant(alone: Aop) -> None:
    ended = alone("serch")
    assert (ended.code, "Did you mean 'search'?" in ended.err) == (2, True)


def test_a_missing_argument_is_wrong_usage(alone: Aop) -> None:
    ended = alone("publish", "--wait", "soon")
    assert (ended.code, "--wait" in ended.err) == (2, True)


def test_a_shell_completes_commands_and_options() -> None:
    def completed(line: str) -> str:
        settings = {"_AOP_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        command = [sys.executable, "-c", "from aop.cli.main import main; main()"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False, env=settings
        )
        return "\n".join(item.partition(",")[2] for item in done.stdout.splitlines())

    assert "search" in completed("aop sea")
    assert set(completed("aop release ").split()) >= {"list", "show", "suspend", "revoke"}
    assert set(completed("aop workspace callers ").split()) >= {"add", "remove", "list"}
    assert "--stream" in completed("aop invoke --s")
    assert "langgraph" in completed("aop init --template l")


def test_the_version_is_told(alone: Aop) -> None:
    assert alone("--version").out.startswith("aop ")
