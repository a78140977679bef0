"""`aop card from-a2a`: makes the draft of a Card from the agent card of an Agent that exists already."""

import asyncio
import os
from pathlib import Path
from typing import Any

import click
import msgspec

from aop.agent.check.a2a_address import AgentNotFound, AgentUntrusted, FoundAgent, find_agent
from aop.agent.check.a2a_card import NotAnAgentCard, read_agent_card
from aop.agent.check.card_comparison import differences
from aop.agent.check.card_draft import UNKNOWN, CardDraft, draft_of, endpoint_of, proposed_agent_id
from aop.base import json as strict_json
from aop.base.ids import is_safe_identifier
from aop.cli.provider.agent_trust import UNTRUSTED, agent_context, ca_of_agent
from aop.cli.provider.probe import lines_of
from aop.cli.shell import options
from aop.cli.shell.card_findings import MAX_BYTES
from aop.cli.shell.destination import find_local
from aop.cli.shell.output import Line, Output, styled
from aop.cli.shell.problems import EXIT_UNREACHABLE, CommandProblem, UsageProblem, file_problems
from aop.contracts.card import AgentCard
from aop.contracts.text import escaped
from aop.net.origin import Endpoint, InvalidEndpoint


@click.argument(
    "source", metavar="URL", help="The Agent's address, the full address of its agent card, or a file with one."
)
@click.option(
    "--out", "target", metavar="FILE", default=Path("card.json"), type=options.PATH, help="The Card to write."
)
@click.option("--owner", metavar="ID", help="The principal of your token; default: you are asked, or it is marked.")
@click.option("--agent", "agent_id", metavar="ID", help="The id of the Agent; default: made of owner and name.")
@click.option("--endpoint", metavar="URL", help="Where the platform will call it; default: what the agent card says.")
@ca_of_agent
@options.yes
def from_a2a(  # noqa: PLR0913, PLR0917  a command's options are its parameters
    out: Output,
    source: str,
    target: Path,
    owner: str | None,
    agent_id: str | None,
    endpoint: str | None,
    ca: Path | None,
    yes: bool,
) -> None:
    """The agent cards of A2A 0.3 and 1.0 are read, from /.well-known/agent-card.json or the older agent.json.

    The draft follows every rule of a Card. What an agent card cannot say is asked on a terminal; without one, the draft
    has CHANGE-ME or a default there, and each such place is listed. No redirect is followed.

    Example: aop card from-a2a http://127.0.0.1:9999/
    Example: aop card from-a2a https://agent.example/cards/one.json --out one.json --owner alice
    """
    found = _from_file(Path(source)) if "://" not in source else asyncio.run(_from_address(source, ca))
    owner_id = _identifier("--owner", owner or _asked_owner(out))
    chosen = agent_id or out.asks("Id of the Agent", proposed_agent_id(found.card, owner_id))
    draft = draft_of(
        found.card,
        endpoint=_endpoint(endpoint) or found.endpoint,
        owner_id=owner_id,
        agent_id=_identifier("--agent", chosen),
    )
    if target.exists() and not yes and not out.confirms(f"{target} exists; replace it?"):
        raise CommandProblem(f"{target} exists; nothing was written", recovery="--out FILE, or --yes to replace it")
    _write(target, draft)
    _tell(out, target, draft, found, with_endpoint_point=endpoint is None)


async def _from_address(source: str, ca: Path | None) -> FoundAgent:
    try:
        return await find_agent(source, tls=agent_context(ca, source))
    except InvalidEndpoint as problem:
        raise UsageProblem(f"{source}: {problem}") from None
    except AgentNotFound as problem:
        way_out = UNTRUSTED if isinstance(problem, AgentUntrusted) else ""
        raise CommandProblem(str(problem), code="no_agent_card", recovery=way_out, exit_code=EXIT_UNREACHABLE) from None


def _from_file(path: Path) -> FoundAgent:
    """Nothing is asked: the card says what the Agent speaks."""
    with file_problems(path, "read"), path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise CommandProblem(f"{path} is larger than 1 MiB")
    try:
        card = read_agent_card(strict_json.parse(raw))
    except (strict_json.JsonRefused, NotAnAgentCard):
        raise CommandProblem(f"{path} is not an A2A agent card") from None
    endpoint, point = endpoint_of(card, None)
    return FoundAgent(card, str(path), endpoint, point, card.declared, None)


def _asked_owner(out: Output) -> str | None:
    local = find_local(Path.cwd(), os.environ)  # noqa: TID251
    principal = None if local is None else local.run.principal
    return out.asks("Your principal, the owner of the Agent", principal) or principal


def _identifier(option: str, text: str | None) -> str | None:
    if text is not None and not is_safe_identifier(text):
        raise UsageProblem(f"{option} is not an identifier: letters, digits and . _ : -, first a letter or digit")
    return text


def _endpoint(text: str | None) -> str | None:
    try:
        return None if text is None else Endpoint.parse(text).canonical
    except InvalidEndpoint as problem:
        raise UsageProblem(f"--endpoint: {problem}") from None


def _write(target: Path, draft: CardDraft) -> None:
    text = msgspec.json.format(msgspec.json.encode(draft.card), indent=2).decode()
    with file_problems(target, "written"):
        # Texts of others reach a terminal from this file as well.
        target.write_text(escaped(text) + "\n", "utf-8")


def _tell(out: Output, target: Path, draft: CardDraft, found: FoundAgent, *, with_endpoint_point: bool) -> None:
    point = found.endpoint_point if with_endpoint_point else None
    points = [*([] if point is None else [point]), *draft.open_points]
    warned = differences(msgspec.json.decode(msgspec.json.encode(draft.card), type=AgentCard), found)
    document: dict[str, Any] = {
        "file": str(target),
        "source": found.card_url,
        "speaks": sorted(found.speaks),
        "openPoints": [{"pointer": one.pointer, "text": one.text} for one in points],
        "differences": [{"difference": one.text, "fix": one.fix} for one in warned],
    }
    lines: list[Line] = [styled(("made ", "green"), f"{target} from {found.card_url}"), *lines_of(warned), "open:"]
    lines += [styled((f"  {one.pointer}  ", "bold"), one.text) for one in points]
    marked = UNKNOWN in str(draft.card["owner"]["id"])
    then = f"write what {UNKNOWN} stands for, then: " if marked else ""
    out.tell(document, *lines, f"next: {then}aop card check {target}")
