"""`aop agent show`: what is published of an Agent, and what changed between two of its versions."""

from typing import Any

import click
import msgspec

from aop.cli.shell.card_difference import CardDifference
from aop.cli.shell.installed import name_warnings
from aop.cli.shell.output import Line, facts, moment, prose, status, styled, table
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import CommandProblem
from aop.contracts.card import AgentCard, Limits
from aop.contracts.catalog import AgentOverview, CatalogEntry


@click.argument("agent", metavar="AGENT", help="The Agent's id.")
@click.option("--version", metavar="VERSION", help="This version; default: the newest.")
@click.option("--diff", metavar="OLD NEW", nargs=2, help="The difference between these two versions.")
async def show(platform: Platform, agent: str, version: str | None, diff: tuple[str, str] | None) -> None:
    """You see all versions of your own Agents, and the published versions of others.

    With --diff: new and dropped permissions first, then Skills, schemas, limits and the rest. Then, for each Skill,
    whether inputs of the old version stay valid, and whether new outputs are valid for old readers.

    Example: aop agent show aop:summarizer
    Example: aop agent show aop:summarizer --diff 1.0.0 1.1.0
    """
    if diff is not None:
        await _show_difference(platform, agent, *diff)
        return
    entries = [entry async for entry in platform.client.list_agent_versions(agent)]
    shown = entries[0] if version is None else _entry(entries, agent, version)
    overview = await platform.client.read_agent_overview(agent, limit=1)
    document: dict[str, Any] = {
        "agentId": agent,
        "publicAgentId": shown.public_agent_id,
        "publicUrl": shown.public_url,
        "versions": entries if version is None else [shown],
        "resembles": overview.resembles or (),
    }
    platform.out.tell(document, *_lines(shown, entries, overview, platform.out.fold))


async def _show_difference(platform: Platform, agent: str, old: str, new: str) -> None:
    before, after = [await platform.client.read_agent_card(agent, version) for version in (old, new)]
    compared = platform.client.read_agent_compatibility(agent, new, from_version=old)
    skills = (await platform.waiting("comparing the versions", compared)).skills
    found = CardDifference.between(msgspec.json.decode(before.body), msgspec.json.decode(after.body), skills)
    document = {"agentId": agent, "before": old, "after": new, **found.document()}
    platform.out.tell(document, styled((f"{agent} {old} → {new}", "bold")), *found.lines())


def _entry(entries: list[CatalogEntry], agent: str, version: str) -> CatalogEntry:
    for entry in entries:
        if entry.version == version:
            return entry
    raise CommandProblem(
        f"{agent} has no version {version} that you may see",
        code="NOT_FOUND",
        recovery=f"it has {', '.join(entry.version for entry in entries)}",
    )


def _lines(entry: CatalogEntry, entries: list[CatalogEntry], overview: AgentOverview, fold: int | None) -> list[Line]:
    card = msgspec.json.decode(entry.card, type=AgentCard)
    return [
        styled((f"{card.agent_id} {card.version}", "bold"), f"  {card.name}"),
        *name_warnings(overview, card),
        prose(card.description),
        "",
        *facts(
            ("owner", f"{card.owner.display_name} ({card.owner.id})"),
            ("state", status(entry.publication_status)),
            ("release", None if entry.release is None else f"{entry.release.release_id} {entry.release.state}"),
            ("installable", "yes" if entry.installable else "no"),
            ("limits", _limits(card.limits)),
            ("public link", entry.public_url),
            ("card digest", entry.card_digest),
        ),
        "",
        *table(
            ["skill", "needs", "description"],
            [(one.id, ", ".join(one.required_permissions), f"{one.name}: {one.description}") for one in card.skills],
            fold,
        ),
        *_permissions(card, fold),
        "",
        *table(
            ["version", "state", "release", "registered"],
            [
                (
                    one.version,
                    status(one.publication_status),
                    status(one.release.state if one.release else ""),
                    moment(one.registered_at),
                )
                for one in entries
            ],
        ),
    ]


def _permissions(card: AgentCard, fold: int | None) -> list[Line]:
    if not card.permissions:
        return ["", "asks for no permission"]
    return ["", *table(["permission", "meaning"], [(one.id, one.description) for one in card.permissions], fold)]


def _limits(limits: Limits) -> str:
    streaming = "streams" if limits.streaming else "does not stream"
    return (
        f"{limits.timeout_ms / 1000:g} s, input {limits.max_input_bytes} bytes,"
        f" output {limits.max_output_bytes} bytes, {streaming}"
    )
