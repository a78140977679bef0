"""`aop front`: one process before an Agent that knows nothing of the platform."""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
import uvloop

from aop.agent.guard.settings import DEVELOPMENT_ADDRESS
from aop.base.settings import SettingsReader, SettingsRefused
from aop.cli.provider.agent_run import local_platform
from aop.cli.provider.agent_trust import ca_of_agent
from aop.cli.provider.front_address import free_address, named_address, opened_address, opened_for
from aop.cli.provider.front_setup import (
    FoundBehind,
    Identity,
    environment_of,
    file_name,
    found_a2a,
    found_service,
    write_new,
)
from aop.cli.shell import options
from aop.cli.shell.destination import LocalPlatform
from aop.cli.shell.output import Notes, Output
from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem, UsageProblem
from aop.contracts.front_settings import FrontSettings
from aop.front.agents import Reread
from aop.front.app import run
from aop.front.settings import PROOFS, ReadFrontSettings, read_card_of, read_front_settings, resolve
from aop.net import address_settings as addresses
from aop.net.address_settings import ListenAddress
from aop.net.authorities import CA_FILE, ca_file
from aop.net.sockets import inherited_sockets
from aop.serving.unit.unit_settings import CannotStart


@click.argument("action", type=click.Choice(["init"]), required=False, help="`init` writes a settings file.")
@click.option("--to", metavar="URL", multiple=True, help="The Agent, or its agent card; with init also several.")
@click.option("--http", is_flag=True, help="It is a plain HTTP service; name its routes.")
@click.option("--route", metavar="SKILL=/PATH", multiple=True, help="With --http: where a Skill's input is POSTed.")
@click.option(
    "--card", metavar="FILE", default=Path("card.json"), type=options.PATH, help="The Card; made if it is not there."
)
@click.option("--settings", metavar="FILE", type=options.PATH, help="Serve what this file says; init writes it.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Where to listen; default: where the Card says, else the first free address from 127.0.0.1:8099 to :8119.",
)
@click.option(
    "--origin", metavar="ORIGIN", help="Where the Router reaches it; default: http:// and the address of --listen."
)
@click.option("--owner", metavar="ID", help="The owner in a new Card; default: the principal of the local platform.")
@click.option("--agent-id", metavar="ID", help="The agentId in a new Card; default: made of owner and name.")
@click.option(
    "--delegation",
    type=click.Choice(["drop", "forward"]),
    default="drop",
    help="Whether the Agent gets the right to make nested calls.",
)
@options.local_data
@ca_of_agent
def front(
    out: Notes, action: str | None, to: tuple[str, ...], settings: Path | None, data: Path | None, **chosen: Any
) -> None:
    """With --to it reads the agent card there, finds out what the Agent speaks (A2A 0.3 or A2A 1.0), makes the Card
    unless it has one, and serves the Agent to the Router until Ctrl-C. It shows the command that publishes it.

    `aop front init --to URL --to URL` writes a settings file (front.json) and a Card for each Agent. There you
    add the secrets that the Agents ask for, and serve with `aop front --settings front.json`.

    The Router to trust is that of the local platform, or the PLATFORM_AGENT_ROUTER_… settings say it.

    Example: aop front --to http://127.0.0.1:9000
    """
    try:
        local = local_platform(data, os.environ)  # noqa: TID251
        if action == "init":
            _init(out, to, settings or Path("front.json"), local, chosen)
        else:
            handed = inherited_sockets(os.environ, 1)  # noqa: TID251
            uvloop.run(run(*_settings(out, to, settings, local, {**chosen, "handed": handed})))
    except SettingsRefused as refused:
        raise CommandProblem(
            "\n".join(f"{problem.name} {problem.reason}" for problem in refused.problems),
            recovery="correct it; the Router to trust comes from a local platform or PLATFORM_AGENT_ROUTER_…",
            exit_code=EXIT_CONFIGURATION,
        ) from None
    except CannotStart as problem:
        raise CommandProblem(str(problem)) from None


def _settings(
    out: Output, to: tuple[str, ...], settings: Path | None, local: LocalPlatform | None, chosen: dict[str, Any]
) -> tuple[ReadFrontSettings, Sequence[socket.socket], Reread]:
    environment = environment_of(os.environ, local, chosen["ca"])  # noqa: TID251
    if settings is not None and not to:
        reread = partial(read_front_settings, settings, environment)
        found = reread()
        out.note(*(f"{one.card.agent_id} {one.card.version}: {one.card.protocol.endpoint}" for one in found.agents))
        return found, chosen["handed"] or [opened_for(found, local)], reread
    if len(to) != 1 or settings is not None:
        raise UsageProblem("name one Agent with --to, or a file with --settings", "for several: aop front init --to …")
    path: Path = chosen["card"]
    # Before anything is written: a Card with the address of somebody else would be of no use.
    card = read_card_of(path) if path.exists() else None
    with ExitStack() as opened:
        if chosen["handed"]:
            address, listeners = named_address(chosen["listen"]) or DEVELOPMENT_ADDRESS, chosen["handed"]
        else:
            address, listener = opened_address(chosen["listen"], chosen["origin"], card, local)
            listeners = [opened.enter_context(listener)]
        document = _document(out, to[0], path, local, {**chosen, "address": address})
        reread = partial(resolve, document, path.absolute().parent, environment)
        found = reread()
        opened.pop_all()
    return found, listeners, reread


def _document(out: Output, to: str, path: Path, local: LocalPlatform | None, chosen: dict[str, Any]) -> FrontSettings:
    """The settings of a front with this one Agent; makes its Card unless there is one."""
    origin = _origin(chosen, chosen["address"])
    behind = _behind(to, local, chosen, origin)
    if not path.exists():
        write_new(path, behind.card)
        out.note(f"{path}: made from the agent card", *(f"  {one.pointer}: {one.text}" for one in behind.open_points))
    (path.parent / PROOFS).mkdir(mode=0o700, exist_ok=True)
    agent = {"card": path.name, "delegation": chosen["delegation"], **behind.settings_of(read_card_of(path))}
    _tell(out, behind, path, chosen["delegation"])
    return msgspec.convert({"listen": chosen["address"].text, "origin": origin, "agents": [agent]}, FrontSettings)


def _tell(out: Output, behind: FoundBehind, path: Path, delegation: str) -> None:
    card = read_card_of(path)
    out.note(f"{card.agent_id} {card.version} at {card.protocol.endpoint}: {behind.members['speaks']} behind it")
    if behind.authentication is not None:
        out.note("its agent card asks for authentication: `aop front init` writes a file for the secret")
    if delegation == "drop":
        out.note("the Agent makes no nested calls; --delegation forward gives it the right to")
    out.note(f"next: aop publish {path}")


def _init(out: Output, to: tuple[str, ...], path: Path, local: LocalPlatform | None, chosen: dict[str, Any]) -> None:
    if not to:
        raise UsageProblem("name the Agents: aop front init --to URL [--to URL …]")
    if path.exists():
        raise CommandProblem(f"{path} is there already", recovery="name another file with --settings")
    address = named_address(chosen["listen"]) or free_address(local)
    origin = _origin(chosen, address)
    agents = []
    for behind in [_behind(url, local, chosen, origin) for url in to]:
        name = file_name(behind.card)
        write_new(path.parent / name, behind.card)
        members = behind.settings_of(read_card_of(path.parent / name))
        agent = {"card": name, **members, "delegation": chosen["delegation"]}
        if chosen["ca"] is not None:
            agent["tls"] = {"caFile": str(chosen["ca"].absolute())}
        if behind.authentication is not None:
            secret = f"{name.removesuffix('.json')}.secret"
            agent["authentication"] = {**behind.authentication, "secretFile": secret}
            out.note(f"{path.parent / secret}: write the secret of this Agent there")
        agents.append(agent)
        out.note(f"{path.parent / name}: made from the agent card")
        out.note(*(f"  {one.pointer}: {one.text}" for one in behind.open_points))
    write_new(path, {"listen": address.text, "origin": origin, "agents": agents}, private=True)
    (path.parent / PROOFS).mkdir(mode=0o700, exist_ok=True)
    out.note(f"next: aop front --settings {path}")


def _behind(url: str, local: LocalPlatform | None, chosen: dict[str, Any], origin: str) -> FoundBehind:
    identity = Identity(chosen["owner"] or (None if local is None else local.run.principal), chosen["agent_id"])
    if chosen["http"]:
        return found_service(url, chosen["route"], origin, identity)
    return found_a2a(url, origin, identity, chosen["ca"], _private_authorities(os.environ))  # noqa: TID251


def _private_authorities(environment: Mapping[str, str]) -> Path | None:
    reader = SettingsReader(environment)
    private = reader.optional(CA_FILE, ca_file, None)
    reader.conclude()
    return private


def _origin(chosen: dict[str, Any], address: ListenAddress) -> str:
    try:
        return addresses.origin(chosen["origin"]) if chosen["origin"] else address.origin
    except ValueError as problem:
        raise UsageProblem(f"--origin {problem}") from None
