"""`aop agent`: checks a running Agent the way the Router will meet it."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from aop.agent.check import AgentCheck, Finding, Subject
from aop.agent.testing import SignedRouter
from aop.base import settings as read
from aop.base.origin import Endpoint, InvalidEndpoint
from aop.base.settings import SettingsReader, SettingsRefused
from aop.contracts.card import AgentCard
from aop.contracts.documents import compiled
from aop.contracts.signing import SigningKey
from aop.local.problems import LocalProblem
from aop.local.secrets import keep_secrets
from aop.local.state import DataFolder, load_run

agent_app = typer.Typer(no_args_is_help=True, help="For Agent authors: check an Agent.")

_KEY = "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"
_ISSUER = "PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER"
_KEY_ID = "PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID"
_LOCAL_ROUTER = "http://127.0.0.1:8081"


@agent_app.callback()
def root() -> None:
    """For Agent authors: check an Agent."""


@agent_app.command("check")
def check(
    url: Annotated[str, typer.Argument(help="The Agent's endpoint, as its Card has it.")],
    card: Annotated[Path, typer.Option(help="The Agent Card (JSON).")] = Path("card.json"),
    given: Annotated[
        list[str] | None,
        typer.Option("--input", help="SKILL=JSON: an input to try. Default: the first of the inputSchema's examples."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help=f"Data folder of a running `aop up`, whose Router is played. Without it, {_KEY} is used."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per check.")] = False,
) -> None:
    """Send an Agent everything it must accept and everything it must refuse. Exit code 1 when any check fails.

    Example: aop agent check http://127.0.0.1:8099/ --card card.json --data .aop
    """
    subject = _subject(url, card, given or [])
    findings = asyncio.run(_run(AgentCheck(subject, _router(subject, data)), _printer(as_json)))
    failed = sum(finding.problem is not None for finding in findings)
    if not as_json:
        _summarize(findings)
    raise typer.Exit(1 if failed else 0)


async def _run(checks: AgentCheck, show: Callable[[Finding], None]) -> list[Finding]:
    findings = []
    async for finding in checks.findings():
        show(finding)
        findings.append(finding)
    return findings


def _printer(as_json: bool) -> Callable[[Finding], None]:
    def show(finding: Finding) -> None:
        if as_json:
            passed = finding.problem is None
            typer.echo(json.dumps({"check": finding.name, "passed": passed, "problem": finding.problem}))

    return show


def _summarize(findings: list[Finding]) -> None:
    table = Table("check", "", "problem", box=None)
    for finding in findings:
        table.add_row(finding.name, "ok" if finding.problem is None else "FAILED", finding.problem or "")
    console = Console(soft_wrap=True)
    console.print(table)
    failed = sum(finding.problem is not None for finding in findings)
    console.print(f"{len(findings)} checks, {failed} failed")


def _subject(url: str, card: Path, given: list[str]) -> Subject:
    try:
        endpoint = Endpoint.parse(url)
        read_card = msgspec.json.decode(card.read_bytes(), type=AgentCard)
    except InvalidEndpoint as problem:
        raise _stop(f"{url}: {problem}") from None
    except OSError as problem:
        raise _stop(f"{card} cannot be read ({problem.strerror}); name the Agent's Card with --card FILE") from None
    except msgspec.DecodeError as problem:
        raise _stop(f"{card} is not an Agent Card: {problem}") from None
    return Subject(endpoint, read_card, _inputs(given, read_card), _conforms)


def _inputs(given: list[str], card: AgentCard) -> dict[str, bytes]:
    inputs = {}
    for text in given:
        skill, _, value = text.partition("=")
        try:
            msgspec.json.decode(value, type=dict[str, Any])
        except msgspec.DecodeError:
            raise _stop("--input is SKILL=JSON, with a JSON object") from None
        if skill not in {known.id for known in card.skills}:
            raise _stop(f"--input names {skill!r}, which the Card does not have")
        inputs[skill] = value.encode()
    return inputs


def _conforms(schema: bytes, value: Any) -> bool:
    return compiled(msgspec.json.decode(schema), formats=False).is_valid(value)


def _router(subject: Subject, data: Path | None) -> SignedRouter:
    """The Router to play: its private key is read here and shown nowhere."""
    audience, agent, version = subject.endpoint.origin, subject.card.agent_id, subject.card.version
    if data is not None:
        try:
            run, secrets = load_run(data), keep_secrets(DataFolder(data))
        except LocalProblem as problem:
            raise _stop(str(problem)) from None
        credential, key = run.router_credential, SigningKey.parse(secrets.router_credential_key)
        return SignedRouter(audience, key, credential.issuer, credential.key_id, agent, version)
    reader = SettingsReader(os.environ)  # noqa: TID251
    key = reader.required(_KEY, SigningKey.parse)
    issuer = reader.optional(_ISSUER, read.origin, _LOCAL_ROUTER)
    key_id = reader.optional(_KEY_ID, read.identifier, "router-1")
    try:
        reader.conclude()
    except SettingsRefused as refused:
        reasons = "; ".join(f"{problem.name} {problem.reason}" for problem in refused.problems)
        raise _stop(f"{reasons}; or pass --data DIR of a running `aop up`") from None
    return SignedRouter(audience, key, issuer, key_id, agent, version)


def _stop(text: str) -> typer.Exit:
    typer.echo(f"aop agent: {text}", err=True)
    return typer.Exit(1)
