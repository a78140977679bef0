"""`aop agent check`: tests a running Agent with what the Router will send it."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from click.exceptions import Exit

from aop.agent.check import AgentCheck, CheckResult, Subject
from aop.agent.testing import SignedRouter
from aop.base import settings as read
from aop.base.settings import SettingsReader, SettingsRefused
from aop.cli import options
from aop.cli.destination import find_local
from aop.cli.output import Output, status, table
from aop.cli.problems import EXIT_REFUSED, CommandProblem
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


@click.argument("url", help="The Agent's endpoint, as its Card has it.")
@click.option("--card", metavar="FILE", default=Path("card.json"), type=options.PATH, help="The Agent Card.")
@click.option(
    "--input",
    "inputs",
    metavar="SKILL=JSON",
    multiple=True,
    help="An input to try; can be repeated. Default: the first of the inputSchema's examples.",
)
@click.option(
    "--data",
    metavar="DIR",
    type=options.PATH,
    help=f"Data folder of the local platform whose Router to act as; default: {_KEY}.",
)
def check(out: Output, url: str, card: Path, inputs: tuple[str, ...], data: Path | None) -> None:
    """The command acts as the Router, with its key: that of the local platform, or the one in the environment.

    Exit code 1 when any check fails. With --json each check is a line.

    Example: aop agent check http://127.0.0.1:8099/ --card my-agent/card.json
    """
    subject = _subject(url, card, inputs)
    findings = asyncio.run(_run(AgentCheck(subject, _router(subject, data)), out))
    failed = sum(finding.problem is not None for finding in findings)
    rows = [(one.name, status("failed" if one.problem else "ok"), one.problem or "") for one in findings]
    out.show(*table(["check", "", "problem"], rows), f"{len(findings)} checks, {failed} failed")
    if failed:
        raise Exit(EXIT_REFUSED)


async def _run(checks: AgentCheck, out: Output) -> list[CheckResult]:
    findings = []
    with out.working("checking the Agent"):
        async for finding in checks.results():
            if out.json:
                passed = finding.problem is None
                out.document({"check": finding.name, "passed": passed, "problem": finding.problem})
            findings.append(finding)
    return findings


def _subject(url: str, card: Path, inputs: Sequence[str]) -> Subject:
    try:
        endpoint = Endpoint.parse(url)
        read_card = msgspec.json.decode(card.read_bytes(), type=AgentCard)
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
            msgspec.json.decode(value, type=dict[str, Any])
        except msgspec.DecodeError:
            raise CommandProblem("--input is SKILL=JSON, with a JSON object") from None
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
    folder = data or (_local_folder(environment) if _KEY not in environment else None)
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


def _local_folder(environment: Mapping[str, str]) -> Path | None:
    found = find_local(Path.cwd(), environment)
    return None if found is None else found.folder
