"""`aop agent run`: serves an Agent project, with an environment of its own and the key of the local platform."""

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click
import msgspec

from aop.agent.guard import settings
from aop.base import json as strict_json
from aop.cli.provider.agent_environment import python_of
from aop.cli.provider.agent_port import require_port
from aop.cli.shell import options
from aop.cli.shell.destination import LocalPlatform, find_local
from aop.cli.shell.output import Notes, Output
from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem
from aop.contracts.card import AgentCard
from aop.local.problems import NotRunning
from aop.local.state import load_run
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.net.sockets import LISTEN_FDS

PROOFS = ".proofs"
"""Where an Agent that runs from its folder serves proofs from."""
_REQUIRED = (settings.ISSUER, settings.AUDIENCE, settings.KEY_ID, settings.PUBLIC_KEY)


@click.argument(
    "directory", metavar="[DIR]", default=Path(), type=options.PATH, help="The project folder; default: this one."
)
@click.option(
    "--python", metavar="FILE", type=options.PATH, help="Run it with this Python; default: an environment in DIR/.venv."
)
@options.local_data
def run(out: Notes, directory: Path, python: Path | None, data: Path | None) -> None:
    """The first run creates an environment from requirements.txt. Ctrl-C stops the Agent.

    PLATFORM_AGENT_… settings in the environment override those of the local platform. When all of them are set, no
    local platform is needed.

    Example: aop agent run my-agent
    """
    _become_agent(out, directory.absolute(), python, data)


def _become_agent(out: Output, directory: Path, python: Path | None, data: Path | None) -> NoReturn:
    caller = os.environ  # noqa: TID251
    card, endpoint = _card(directory / "card.json")
    supplied = agent_settings(directory, endpoint, caller, local_platform(data, caller))
    if LISTEN_FDS not in supplied:
        with suppress(ValueError):  # the Agent says itself what is wrong with its setting
            asyncio.run(require_port(addresses.listen_address(supplied[settings.LISTEN_ADDRESS]), card.agent_id))
    chosen = python.absolute() if python is not None else python_of(directory, out)
    module = module_of(directory)
    out.note(f"serving {endpoint.canonical} (Ctrl-C stops it)")
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(directory)
    try:
        os.execve(chosen, [str(chosen), "-m", module], supplied)  # noqa: S606
    except OSError as problem:
        raise CommandProblem(f"{shlex.quote(str(chosen))} cannot be run: {problem.strerror}") from None


def _card(path: Path) -> tuple[AgentCard, Endpoint]:
    try:
        card = strict_json.decode(path.read_bytes(), AgentCard)
        return card, Endpoint.parse(card.protocol.endpoint)
    except OSError as problem:
        raise CommandProblem(
            f"{path} cannot be read: {problem.strerror}", recovery="name the project's folder"
        ) from None
    except (msgspec.DecodeError, InvalidEndpoint):
        recovery = f"aop card check {shlex.quote(str(path))}"
        raise CommandProblem(f"{path} is not a usable Agent Card", recovery=recovery) from None


def local_platform(data: Path | None, caller: Mapping[str, str]) -> LocalPlatform | None:
    try:
        return find_local(Path.cwd(), caller) if data is None else LocalPlatform(data, load_run(data))
    except NotRunning as problem:
        raise CommandProblem(str(problem)) from None


def agent_settings(
    directory: Path, endpoint: Endpoint, caller: Mapping[str, str], local: LocalPlatform | None
) -> dict[str, str]:
    """The environment of the Agent: the caller's, and what the local platform adds to it."""
    proofs = directory / PROOFS
    proofs.mkdir(mode=0o700, exist_ok=True)
    supplied = {
        settings.AUDIENCE: endpoint.origin,
        settings.LISTEN_ADDRESS: addresses.ListenAddress(endpoint.host, endpoint.port).text,
        settings.CHALLENGE_DIRECTORY: str(proofs),
    }
    if local is not None:
        credential = local.run.router_credential
        supplied |= {
            settings.ISSUER: credential.issuer,
            settings.KEY_ID: credential.key_id,
            settings.PUBLIC_KEY: credential.public_key,
            settings.ROUTER_URL: local.run.router,
        }
    found = supplied | dict(caller)
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise CommandProblem(
            f"no local platform runs nearby, and {', '.join(missing)} is not set",
            recovery="start one with `aop up`, name its folder with --data DIR, or set what is missing",
            exit_code=EXIT_CONFIGURATION,
        )
    return found


def module_of(directory: Path) -> str:
    """The one package of the project that can be run."""
    found = sorted(path.parent.name for path in directory.glob("*/__main__.py") if path.parent.name.isidentifier())
    if len(found) != 1:
        raise CommandProblem(f"{directory} has {len(found)} packages with a __main__.py; one is needed")
    return found[0]
