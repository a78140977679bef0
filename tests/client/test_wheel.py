"""The built wheel in empty environments: the client and the agent kit work there without the servers' dependencies."""

import asyncio
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.client.gateway import WORKSPACE, an_error, saying, scripted_gateway
from tools.environments import ROOT, child_environment, ready_uv

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


def run(command: Sequence[str | Path]) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder])
    return next(folder.glob("aop-*.whl"))


def installed(wheel: Path, folder: Path, extra: str) -> tuple[Path, set[str]]:
    """The interpreter of a new environment that holds the wheel and what it asks for, and the names of all of that."""
    uv = ready_uv(lambda text: None)
    run([uv, "venv", "--quiet", "--no-project", "--python", sys.executable, folder])
    python = folder / "bin" / "python"
    pinned = ["--constraint", str(ROOT / "requirements.lock")]
    run([uv, "pip", "install", "--quiet", "--python", python, *pinned, f"aop{extra} @ {wheel.as_uri()}"])
    listed = json.loads(run([uv, "pip", "list", "--quiet", "--python", python, "--format", "json"]))
    return python, {package["name"] for package in listed}


async def said(python: Path, program: str, argument: str) -> str:
    """What the program prints, cut off from the checkout."""
    process = await asyncio.create_subprocess_exec(
        python, "-I", "-W", "error", "-c", program, argument, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    async with asyncio.timeout(60):
        out, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    return out.decode()


def test_the_wheel_says_that_it_is_typed_and_carries_the_contracts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {"codes.json", "recovery.json"}
    assert {"aop/py.typed", *(f"aop/assets/contracts/platform-error/{name}" for name in wanted)} <= names
    assert [name for name in names if "__pycache__" in name or name.startswith(("tests/", "tools/"))] == []


async def test_the_bare_package_is_a_working_client(wheel: Path, tmp_path: Path) -> None:
    python, packages = await asyncio.to_thread(installed, wheel, tmp_path / "bare", "")
    assert packages == {"aop", "certifi", "httptools", "msgspec"}

    async def behave(request: Any) -> None:
        await (saying(WORKSPACE) if request.verb == "GET" else an_error("CONFLICT", 409))(request)

    async with scripted_gateway(behave) as gateway:
        assert await said(python, CLIENT, gateway.origin) == "alice\nalice\nCONFLICT caller\n"


async def test_the_agent_extra_is_a_working_guard(wheel: Path, tmp_path: Path) -> None:
    python, packages = await asyncio.to_thread(installed, wheel, tmp_path / "agent", "[agent]")
    assert packages >= {"aop", "pynacl"}
    assert packages & SERVER_PARTS == set()
    assert await said(python, AGENT, str(tmp_path)) == "['draft', 401]\n"


async def test_importing_the_client_loads_no_server_part() -> None:
    program = "import sys, aop.client; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    modules = set((await said(Path(sys.executable), program, "")).split())
    assert modules & {name.replace("-", "_") for name in SERVER_PARTS} == set()
    assert modules & {"cryptography", "nacl", "yaml", "jwt"} == set()
