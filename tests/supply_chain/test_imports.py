"""The platform's own environment: no agent framework in it, and an import that only imports."""

import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.metadata import packages_distributions
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import PATIENCE_SECONDS
from tools.lock_files import ROOT, read_python

pytestmark = pytest.mark.second_ring

FRAMEWORKS = [
    "a2a",
    "agno",
    "anthropic",
    "autogen",
    "autogen_agentchat",
    "autogen_core",
    "crewai",
    "dspy",
    "haystack",
    "google.adk",
    "google.genai",
    "langchain",
    "langchain_core",
    "langgraph",
    "letta",
    "litellm",
    "llama_index",
    "ollama",
    "openai",
    "openai_agents",
    "pydantic_ai",
    "semantic_kernel",
    "smolagents",
    "strands",
    "torch",
    "transformers",
    "vertexai",
]
LOCK = ROOT / "requirements.lock"


def locked_names() -> set[str]:
    """As distributions are compared: lowercase, with hyphens."""
    return {pin.name.replace("_", "-").replace(".", "-") for pin in read_python(LOCK, LOCK.read_text()).pins}


def importable() -> list[str]:
    """The top-level modules that the locked packages bring."""
    locked = locked_names()
    found = packages_distributions().items()
    return sorted(
        module
        for module, names in found
        if locked & {name.lower().replace("_", "-").replace(".", "-") for name in names}
    )


def imported(*arguments: str, code: str | None = None) -> subprocess.CompletedProcess[str]:
    program = ["-c", code] if code else ["-m", "tests.supply_chain.imports"]
    return subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    ended = imported(*importable())
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def test_the_platform_runs_in_the_environment_of_its_own_lock_file() -> None:
    loader = SourceFileLoader("dev_script", str(ROOT / "dev"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    script = module_from_spec(spec)
    loader.exec_module(script)
    assert Path(script.RUN.lock) == LOCK
    assert script.RUN.paths == (ROOT / "src",)


def test_every_module_of_the_platform_needs_locked_packages_only(found: dict[str, Any]) -> None:
    assert len(found["modules"]) > 200
    assert {"aop.router.app", "aop.control_plane.app", "aop.local.up"} <= set(found["modules"])


def test_no_agent_framework_is_locked_for_the_platform() -> None:
    names = {name.replace("_", "-").replace(".", "-") for name in FRAMEWORKS} | {"a2a-sdk", "llama-index-core"}
    assert locked_names() & names == set()


def test_no_agent_framework_can_be_imported_by_the_platform(found: dict[str, Any]) -> None:
    assert set(FRAMEWORKS) & set(found["loaded"]) == set()
    asked = "import importlib.util, sys; from tests.supply_chain.imports import Unlocked;"
    asked += "names, allowed = (part.split(',') for part in sys.argv[1:]);"
    asked += "sys.meta_path.insert(0, Unlocked(frozenset(allowed)))\n"
    asked += (
        "for name in names:\n try: found = importlib.util.find_spec(name)\n except ModuleNotFoundError: found = None\n"
    )
    asked += " if found: print(name)"
    ended = imported(",".join([*FRAMEWORKS, "asyncpg"]), ",".join(importable()), code=asked)
    assert (ended.returncode, ended.stdout.split()) == (0, ["asyncpg"]), ended.stderr


def test_importing_the_platform_opens_no_connection_writes_no_file_and_starts_no_process(found: dict[str, Any]) -> None:
    assert found["deeds"] == []


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.socket().connect(('127.0.0.1', 9))",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import tempfile; tempfile.TemporaryFile()",
        "import os; os.close(os.open('/dev/null', os.O_WRONLY))",
        "open('/dev/null', 'a').close()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.rename('/dev/null/a', '/dev/null/b')",
        "import os; os.fork() or os._exit(0)",
    ],
)
def test_the_watch_sees_what_an_import_must_not_do(deed: str) -> None:
    watching = "import sys; from tests.supply_chain.imports import watch; deeds = []; watch(deeds)\n"
    done = "\ntry: exec(sys.argv[1])\nexcept OSError: pass\nsys.exit(0 if deeds else 9)"
    assert imported(deed, code=watching + done).returncode == 0
