"""The snippets of `aop connect` do what they promise: each is saved as it is and run against a running platform."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from interop.environments import AGENTS, command, prepare
from interop.snippets import AGENT, ANSWER, SKILL
from tests.cli.conftest import Aop, Stack
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

_NODE_FOLDER, _SDK_FOLDER = "a2a-js-1", "a2a-sdk-1"


def environment(stack: Stack) -> dict[str, str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    return {"PATH": programs, "HOME": str(stack.platform.data), "AOP_TOKEN": stack.token}


def saved(folder: Path, name: str, code: str) -> Path:
    path = folder / name
    path.write_text(code)
    return path


def shell(folder: Path, code: str) -> list[str]:
    aop = f'aop() {{ {json.dumps(sys.executable)} -P -m aop "$@"; }}\n'
    return ["/bin/sh", "-e", str(saved(folder, "snippet.sh", aop + code))]


def node(folder: Path, code: str) -> list[str]:
    """A module finds the packages that are installed beside it."""
    (folder / "node_modules").symlink_to(AGENTS / _NODE_FOLDER / "node_modules")
    return [command(_NODE_FOLDER, "", print)[0], str(saved(folder, "snippet.mjs", code))]


def own_python(folder: Path, code: str) -> list[str]:
    return [sys.executable, "-P", str(saved(folder, "snippet.py", code))]


def sdk_python(folder: Path, code: str) -> list[str]:
    return [command(_SDK_FOLDER, "", print)[0], str(saved(folder, "snippet.py", code))]


PROGRAMS: Mapping[str, Callable[[Path, str], list[str]]] = {
    "curl": shell,
    "cli": shell,
    "python": own_python,
    "typescript": node,
    "a2a-python": sdk_python,
    "a2a-js": node,
}


@pytest.mark.rows("DOOR-01")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_calls_the_agent_as_pasted(aop: Aop, stack: Stack, tmp_path: Path, name: str) -> None:
    prepare([_NODE_FOLDER, _SDK_FOLDER], print)
    code = aop("connect", AGENT, "--skill", SKILL, "--for", name, "--json").json["code"]
    ran = subprocess.run(
        PROGRAMS[name](tmp_path, code),
        cwd=tmp_path,
        env=environment(stack),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ANSWER in ran.stdout
