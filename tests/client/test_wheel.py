"""The built wheel in empty environments: the client and the agent kit work there without the servers' dependencies."""

import asyncio
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

import aop
from aop import __version__
from aop.base.distribution import NAME
from tests.client.gateway import WORKSPACE, an_error, saying, scripted_gateway
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.wheels import built_wheel, installed

pytestmark = pytest.mark.second_ring

SERVER_PARTS = {"asyncpg", "uvloop", "jsonschema-rs", "prometheus-client", "click", "rich", "pyjwt"}
CLIENT = """
import asyncio, sys
from aop.client import Client, PlatformError, SyncClient

async def owner():
    async with Client(sys.argv[1], "token") as client:
        return (await client.read_workspace("demo")).owner_id

print(asyncio.run(owner()))
with SyncClient(sys.argv[1], "token") as client:
    print(client.read_workspace("demo").owner_id)
    try:
        client.create_workspace("demo")
    except PlatformError as error:
        print(error.code, error.recovery.owner)
"""
AGENT = """
import asyncio, pathlib, sys
from aop.agent import AgentSettings, current, guarded
from aop.agent.testing import SignedRouter

async def agent(scope, receive, send):
    said.append(current().capability)

async def call(request):
    inbox = [{"type": "http.request", "body": request.body, "more_body": False}]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": request.headers, "query_string": b""}
    async def receive(): return inbox.pop()
    async def send(message): said.append(message.get("status"))
    await app(scope, receive, send)

said = []
router = SignedRouter.new("http://127.0.0.1:8099")
settings = AgentSettings.from_environment(router.environment(pathlib.Path(sys.argv[1])))
app = guarded(agent, settings)
request = router.request({"jsonrpc": "2.0"}, capability="draft")
asyncio.run(call(request))
asyncio.run(call(request))
print([one for one in said if one is not None])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """The interpreter of an environment with the bare package, and the names of all packages there."""
    return installed(wheel, tmp_path_factory.mktemp("bare") / "env", "")


def ended(command: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, cut off from the checkout."""
    return subprocess.run(
        list(map(str, command)),
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


async def said(python: Path, program: str, argument: str) -> str:
    """What the program prints, cut off from the checkout."""
    process = await asyncio.create_subprocess_exec(
        python, "-I", "-W", "error", "-c", program, argument, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    async with patience():
        out, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    return out.decode()


def test_the_wheel_says_that_it_is_typed_and_carries_the_contracts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {"codes.json", "recovery.json"}
    assert {"aop/py.typed", *(f"aop/assets/contracts/platform-error/{name}" for name in wanted)} <= names
    assert [name for name in names if "__pycache__" in name or name.startswith(("tests/", "tools/"))] == []


def test_the_wheel_is_named_as_it_is_installed_and_has_the_extras_of_the_guides(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        noted = f"agent_operating_platform-{__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{noted}/METADATA").decode())
        commands = archive.read(f"{noted}/entry_points.txt").decode()
    assert (metadata["Name"], metadata["Version"]) == (NAME, __version__)
    assert {"agent", "cli", "local", "door", "front", "platform"} <= set(metadata.get_all("Provides-Extra", []))
    assert commands.split() == ["[console_scripts]", "aop", "=", "agent_operating_platform:main"]


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("aop", "cli"),
        ("aop --version", "cli"),
        ("aop status", "cli"),
        ("python -m aop search words", "cli"),
        ("aop up", "local"),
        ("aop router", "platform"),
        ("aop front --settings x", "front"),
        ("aop mcp", "door"),
    ],
)
def test_the_bare_package_says_which_extra_a_command_needs(
    wheel: Path, bare: tuple[Path, set[str]], command: str, extra: str
) -> None:
    program, *arguments = command.split()
    done = ended([bare[0].with_name(program), *arguments])
    assert (done.returncode, done.stdout) == (78, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"which comes with the extra {extra}: pip install '{NAME}[{extra}] @ {wheel.as_uri()}'")


def test_an_agent_on_the_bare_package_is_told_which_extra_it_needs(bare: tuple[Path, set[str]]) -> None:
    done = ended([bare[0], "-c", "import aop.agent"])
    assert f"aop.agent needs the extra agent: pip install '{NAME}[agent]" in done.stderr.splitlines()[-1]


def test_beside_another_package_named_aop_the_command_says_so_in_one_sentence(
    bare: tuple[Path, set[str]], tmp_path: Path
) -> None:
    """The dist-info and the first file have the shape of those in `aop` 0.2.0 of the package index."""
    site = tmp_path / "site"
    (site / "aop-0.2.0.dist-info").mkdir(parents=True)
    for command in (["aop", "up"], ["python", "-m", "aop", "status"]):
        done = ended([bare[0].with_name(command[0]), *command[1:]], PYTHONPATH=str(site))
        assert (done.returncode, done.stdout) == (78, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("aop: the package aop 0.2.0 is installed here too")
    (site / "aop-0.2.0.dist-info").rmdir()
    (site / "aop").mkdir()
    (site / "aop" / "__init__.py").write_text("from .interface import enable, disable, register\n")
    done = ended([bare[0].with_name("aop"), "up"], PYTHONPATH=str(site))
    (line,) = done.stderr.splitlines()
    assert done.returncode == 78
    assert f"{site}/aop/__init__.py is another module named aop" in line


@pytest.mark.parametrize("module", ["aop.agent", "aop.client"])
def test_a_program_that_imports_says_that_another_package_was_installed_over_ours(module: str, tmp_path: Path) -> None:
    package = tmp_path / "aop"
    package.mkdir()
    for part in Path(aop.__file__).parent.iterdir():
        if part.suffix != ".py":
            (package / part.name).symlink_to(part)
    (package / "__init__.py").write_text('__version__ = "0.2.0"\n')
    done = ended([sys.executable, "-c", f"import {module}"], PYTHONPATH=str(tmp_path))
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {package}/__init__.py is of another package named aop, installed over")


async def test_the_bare_package_is_a_working_client(bare: tuple[Path, set[str]]) -> None:
    python, packages = bare
    assert packages == {NAME, "certifi", "httptools", "msgspec"}

    async def behave(request: Any) -> None:
        await (saying(WORKSPACE) if request.verb == "GET" else an_error("CONFLICT", 409))(request)

    async with scripted_gateway(behave) as gateway:
        assert await said(python, CLIENT, gateway.origin) == "alice\nalice\nCONFLICT caller\n"


async def test_the_agent_extra_is_a_working_guard(wheel: Path, tmp_path: Path) -> None:
    python, packages = await asyncio.to_thread(installed, wheel, tmp_path / "agent", "[agent]")
    assert packages >= {NAME, "pynacl"}
    assert packages & SERVER_PARTS == set()
    assert await said(python, AGENT, str(tmp_path)) == "['draft', 401]\n"


async def test_importing_the_client_loads_no_server_part() -> None:
    program = "import sys, aop.client; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    modules = set((await said(Path(sys.executable), program, "")).split())
    assert modules & {name.replace("-", "_") for name in SERVER_PARTS} == set()
    assert modules & {"cryptography", "nacl", "yaml", "jwt"} == set()
