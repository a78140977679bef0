"""`aop agent check`: tests an Agent with what the Router will send it."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec
from click.exceptions import Exit

from aop.agent.check.check import AgentCheck, CheckResult, Subject
from aop.agent.testing import SignedRouter
from aop.base import json as strict_json
from aop.base import settings as read
from aop.base.settings import SettingsReader, SettingsRefused
from aop.cli.provider.agent_environment import python_of
from aop.cli.provider.agent_report import agreement, document_of, lines_of
from aop.cli.provider.agent_run import module_of
from aop.cli.provider.agent_started import AgentProject, started_agent
from aop.cli.provider.agent_trust import UNTRUSTED, agent_context, ca_of_agent
from aop.cli.provider.probe import lines_of as differences_of
from aop.cli.provider.probe import probed, write_report
from aop.cli.shell import options
from aop.cli.shell.destination import find_local
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_REFUSED, EXIT_UNREACHABLE, CommandProblem
from aop.contracts.card import AgentCard
from aop.contracts.documents import compiled
from aop.contracts.signing import SigningKey
from aop.local.problems import LocalProblem
from aop.local.secrets import keep_secrets
from aop.local.state import DataFolder, load_run
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint, InvalidEndpoint

_KEY = "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"
_ISSUER = "PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER"
_KEY_ID = "PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID"
_LOCAL_ROUTER = "http://127.0.0.1:8081"


@click.argument(
    "agent", metavar="URL", help="The Agent's endpoint as its Card has it, or the folder of a project to start."
)
@click.option(
    "--card", metavar="FILE", type=options.PATH, help="The Agent Card; default: card.json, here or in the project."
)
@click.option(
    "--input",
    "inputs",
    metavar="SKILL=JSON",
    multiple=True,
    help="An input to try; can be repeated. Default: the first of the inputSchema's examples.",
)
@click.option("--report", metavar="FILE", type=options.PATH, help="Write the result to this file of yours.")
@click.option(
    "--python", metavar="FILE", type=options.PATH, help="Start a project with this Python; default: its .venv."
)
@click.option(
    "--data",
    metavar="DIR",
    type=options.PATH,
    help=f"Data folder of the local platform whose Router to act as; default: {_KEY}.",
)
@ca_of_agent
def check(  # noqa: PLR0913, PLR0917  a command's options are its parameters
    out: Output,
    agent: str,
    card: Path | None,
    inputs: tuple[str, ...],
    report: Path | None,
    python: Path | None,
    data: Path | None,
    ca: Path | None,
) -> None:
    """First the Agent's own agent card is compared with the Card; a difference that makes calls fail comes first.

    Then the command acts as the Router. A running Agent is called with the Router's key: that of the local platform, or
    the one in the environment. A project folder is started for the check with a key of the check's own, and stopped.

    Exit code 1 when any check fails, 3 when nothing answers. With --json each check is a line. The result is yours: the
    platform neither stores nor shows it.

    Example: aop agent check http://127.0.0.1:8099/ --card my-agent/card.json
    Example: aop agent check my-agent --report check.json
    """
    if "://" in agent:
        subject = replace(_subject(agent, card or Path("card.json"), inputs), tls=agent_context(ca, agent))
        asyncio.run(_checked(out, subject, lambda: _router(subject, data), report))
    else:
        folder = Path(agent).absolute()
        subject = _subject(None, card or folder / "card.json", inputs)
        project = AgentProject(folder, module_of(folder), python.absolute() if python else python_of(folder, out))
        asyncio.run(_started_and_checked(out, subject, project, report))


async def _started_and_checked(out: Output, subject: Subject, project: AgentProject, report: Path | None) -> None:
    async with started_agent(out, project, subject) as router:
        await _checked(out, subject, lambda: router, report)


async def _checked(out: Output, subject: Subject, router: Callable[[], SignedRouter], report: Path | None) -> None:
    probe = await probed(subject.card, subject.endpoint, subject.tls)
    if probe.untrusted:
        raise CommandProblem(str(probe.problem), code="no_answer", recovery=UNTRUSTED, exit_code=EXIT_UNREACHABLE)
    if probe.silent:
        raise CommandProblem(f"{probe.problem}; start the Agent", code="no_answer", exit_code=EXIT_UNREACHABLE)
    out.note(*differences_of(probe.differences))
    findings = [agreement(probe)]
    _tell(out, findings[0])
    if probe.speaks_0_3:  # every other check needs that
        checks = AgentCheck(subject, router())
        with out.working("checking the Agent"):
            async for finding in checks.results():
                _tell(out, finding)
                findings.append(finding)
    if report is not None:
        write_report(out, report, probe.document() | {"checks": [document_of(one) for one in findings]})
    out.show(*lines_of(findings))
    if any(finding.problem is not None for finding in findings):
        raise Exit(EXIT_REFUSED)


def _tell(out: Output, finding: CheckResult) -> None:
    if out.json:
        out.document(document_of(finding))


def _subject(url: str | None, card: Path, inputs: Sequence[str]) -> Subject:
    """Without a URL the Agent is where its Card says."""
    try:
        read_card = strict_json.decode(card.read_bytes(), AgentCard)
        url = url or read_card.protocol.endpoint
        endpoint = Endpoint.parse(url)
    except InvalidEndpoint as problem:
        raise CommandProblem(f"{url}: {problem}") from None
    except OSError as problem:
        raise CommandProblem(
            f"{card} cannot be read ({problem.strerror}); name the Agent's Card with --card FILE"
        ) from None
    except msgspec.DecodeError as problem:
        raise CommandProblem(f"{card} is not an Agent Card: {problem}") from None
    return Subject(endpoint, read_card, _inputs(inputs, read_card), _conforms)


def _inputs(texts: Sequence[str], card: AgentCard) -> dict[str, bytes]:
    inputs = {}
    for text in texts:
        skill, _, value = text.partition("=")
        try:
            msgspec.json.decode(value, type=dict[str, Any] | str)
        except msgspec.DecodeError:
            raise CommandProblem("--input is SKILL=JSON, with a JSON object or a JSON string") from None
        if skill not in {one.id for one in card.skills}:
            raise CommandProblem(f"--input names {skill!r}, which the Card does not have")
        inputs[skill] = value.encode()
    return inputs


def _conforms(schema: bytes, value: Any) -> bool:
    return compiled(msgspec.json.decode(schema), formats=False).is_valid(value)


def _router(subject: Subject, data: Path | None) -> SignedRouter:
    """The Router to act as: its private key is read here and shown nowhere."""
    audience, agent, version = subject.endpoint.origin, subject.card.agent_id, subject.card.version
    environment = os.environ  # noqa: TID251
    local = None if data is not None or _KEY in environment else find_local(Path.cwd(), environment)
    folder = data if local is None else local.folder
    if folder is not None:
        try:
            run, secrets = load_run(folder), keep_secrets(DataFolder(folder))
        except LocalProblem as problem:
            raise CommandProblem(str(problem)) from None
        credential, key = run.router_credential, SigningKey.parse(secrets.router_credential_key)
        return SignedRouter(audience, key, credential.issuer, credential.key_id, agent, version)
    reader = SettingsReader(environment)
    key = reader.required(_KEY, SigningKey.parse)
    issuer = reader.optional(_ISSUER, addresses.origin, _LOCAL_ROUTER)
    key_id = reader.optional(_KEY_ID, read.identifier, "router-1")
    try:
        reader.conclude()
    except SettingsRefused as refused:
        reasons = "; ".join(f"{problem.name} {problem.reason}" for problem in refused.problems)
        raise CommandProblem(reasons, recovery="set it, or pass --data DIR of a running `aop up`") from None
    return SignedRouter(audience, key, issuer, key_id, agent, version)
