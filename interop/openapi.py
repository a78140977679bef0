"""What others make of the Gateway's OpenAPI document: a client in Python, types in TypeScript, and generated calls."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from interop.environments import install_packages
from tools.console_build import find_node
from tools.environments import ROOT, Environment, Say, child_environment, ready

TYPESCRIPT = ROOT / "clients" / "typescript"
TYPES = TYPESCRIPT / "gateway.d.ts"
DOCUMENT = ROOT / "contracts" / "openapi" / "bundled" / "gateway.v1.json"
_FOLDER = ROOT / "interop" / "generators"
_PYTHON = Environment("interop/generators", _FOLDER / "requirements.lock", (), 30)


# A refusal is no finding: the schema of a request does not have every rule.
_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)


class ToolFailed(Exception):
    """A generator, or a program on what it made, ended with an error; the text is what it said."""


def prepare(say: Say) -> None:
    ready([_PYTHON], say)
    install_packages(TYPESCRIPT, find_node(say), say)


async def make_python_client(document: str, folder: Path) -> list[str]:
    """The operations that openapi-python-client made from the document at this address. A warning is a failure."""
    options = ("--meta", "none", "--output-path", str(folder), "--fail-on-warning")
    await _run(_program("openapi-python-client"), "generate", "--url", document, *options)
    return sorted(path.stem for path in _modules(folder) if path.stem != "__init__")


async def make_types(document: str, file: Path) -> None:
    await _run(*types_command(document, file))


def types_command(document: str = str(DOCUMENT), file: Path = TYPES) -> list[str]:
    return [*_in_node("openapi-typescript/bin/cli.js"), document, "--output", str(file)]


async def use_python_client(folder: Path, arguments: Sequence[str], token: str) -> list[Any]:
    output = await _run(
        str(_PYTHON.python), str(_FOLDER / "call.py"), str(folder), *arguments, secrets={"AOP_TOKEN": token}
    )
    return _lines(output)


async def use_types(arguments: Sequence[str], token: str) -> list[Any]:
    """Compiles the example of the package against its types, and runs it."""
    await _run(*_in_node("typescript/bin/tsc"), "--project", str(TYPESCRIPT))
    command = [find_node(print).node, str(TYPESCRIPT / "dist" / "example.js")]
    return _lines(await _run(*command, *arguments, secrets={"AOP_TOKEN": token}))


async def compare(gateway: str, token: str, *options: str) -> str:
    """What schemathesis reports of the calls it made up from the document. What it finds wrong is a failure.

    Signing out is left out: all calls have one token.
    """
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{gateway}/openapi.json"]
    command += ["--checks", _CHECKS, "--phases", "fuzzing", "--generation-deterministic", "--no-color"]
    command += ["--exclude-operation-id", "revokePresentedToken"]
    return await _run(*command, "--header", f"Authorization: Bearer {token}", *options)


def _modules(folder: Path) -> Iterable[Path]:
    return folder.glob("api/*/*.py")


def _program(name: str) -> str:
    return str(_PYTHON.folder / "bin" / name)


def _in_node(script: str) -> list[str]:
    return [find_node(print).node, str(TYPESCRIPT / "node_modules" / script)]


async def _run(*command: str, secrets: Mapping[str, str] | None = None) -> str:
    path = os.pathsep.join([str(_PYTHON.folder / "bin"), os.defpath])
    ran = await asyncio.create_subprocess_exec(
        *command,
        cwd=_PYTHON.folder,  # what a tool keeps for its next run is no part of the project
        env=child_environment() | {"PATH": path} | dict(secrets or {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await ran.communicate()
    finally:
        if ran.returncode is None:
            ran.kill()
            await ran.wait()
    if ran.returncode:
        raise ToolFailed(output.decode(errors="replace"))
    return output.decode()


def _lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]
