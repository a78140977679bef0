"""`aop connect`: how other programs call what is installed, ready to be pasted."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from aop.cli.consumer.invoke_input import first_example
from aop.cli.shell import snippets
from aop.cli.shell.destination import Destination, unit_address
from aop.cli.shell.output import Line, facts, styled, table
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.cli.shell.snippets import Callee, ExampleCall, Snippet
from aop.contracts.card import AgentCard, Skill
from aop.contracts.workspace import Installation, InstallationStatus


@click.argument("agent", metavar="[AGENT]", required=False, help="The Agent's id; default: the first that is enabled.")
@click.option("--for", "name", metavar="NAME", help="Show the snippet of this name.")
@click.option("--skill", metavar="ID", help="The Skill to call; default: the first that may be used.")
@click.option("--door", metavar="URL", help="The door; default: that of the profile, AOP_DOOR, or this machine's.")
async def connect(
    platform: InWorkspace, agent: str | None, name: str | None, skill: str | None, door: str | None
) -> None:
    """Without --for it lists the addresses of the Workspace and the programs there is a snippet for: assistants and
    editors that speak MCP, frameworks and SDKs that speak A2A or MCP, and plain code.

    With --for, stdout holds the snippet and nothing else; where it belongs is on stderr. No snippet holds a token: it
    comes from your profile, from AOP_TOKEN or from a prompt of the program.

    Example: aop connect
    Example: aop connect --for claude-desktop
    Example: aop connect aop:summarizer --for a2a-python > call.py
    """
    chosen = None if name is None else _snippet(name)
    address = platform.destination.door if door is None else unit_address(door, "a door")
    callee = Callee(platform.destination.gateway, platform.workspace_id, _stdio_command(platform), address)
    enabled = await _enabled(platform, agent)
    if chosen is None:
        _list(platform, callee, enabled)
        return
    if "agent" in chosen.needs:
        callee = replace(callee, call=await _example_call(platform, enabled, agent, skill))
    _require_offered(chosen, callee)
    _show(platform, chosen, callee)


def _snippet(name: str) -> Snippet:
    for snippet in snippets.table().snippets:
        if snippet.name == name:
            return snippet
    names = ", ".join(snippet.name for snippet in snippets.table().snippets)
    raise UsageProblem(f"there is no snippet {name}", f"one of {names}")


def _stdio_command(platform: InWorkspace) -> tuple[str, ...]:
    """With a whole path: a program that was not started from a shell finds no command by its name."""
    script = Path(sys.executable).with_name("aop")
    program = (str(script),) if script.is_file() else (sys.executable, "-P", "-m", "aop")
    return (*program, "mcp", *_platform_options(platform.destination), "--workspace", platform.workspace_id)


def _platform_options(destination: Destination) -> tuple[str, ...]:
    if destination.local is not None:
        return "--data", str(destination.local.folder.absolute())
    trusted = () if destination.ca is None else ("--ca", str(destination.ca))
    return trusted if destination.profile is None else ("--profile", destination.profile, *trusted)


async def _enabled(platform: InWorkspace, agent: str | None) -> list[Installation]:
    """By Agent id, as the Console lists them; one Agent's alone when it is named."""
    found = [
        one
        async for one in platform.client.list_installations(platform.workspace_id)
        if one.status is InstallationStatus.ENABLED and agent in {None, one.agent_id}
    ]
    if agent is not None and not found:
        raise CommandProblem(
            f"{agent} is not installed and enabled in the Workspace {platform.workspace_id}",
            code="AGENT_NOT_INSTALLED",
            recovery="`aop installations` lists what is installed; `aop install AGENT` installs another",
        )
    return sorted(found, key=lambda one: one.agent_id)


async def _example_call(
    platform: InWorkspace, enabled: Sequence[Installation], agent: str | None, skill_id: str | None
) -> ExampleCall:
    if not enabled:
        raise CommandProblem(
            f"nothing is enabled in the Workspace {platform.workspace_id}", recovery="aop search, aop install AGENT"
        )
    current = enabled[0]
    if agent is None and len(enabled) > 1:
        platform.out.note(f"for {current.agent_id}; another: aop connect AGENT --for …")
    card = (await platform.client.read_agent_card(current.agent_id, current.installed_version)).card
    skill = _skill(card, current, skill_id)
    example = first_example(skill)
    if example is None:
        platform.out.note(f"the Card has no example input for {skill.id}: write your own where the snippet has {{}}")
    compact = msgspec.json.format(example or b"{}", indent=-1)
    return ExampleCall(current.agent_id, skill.id, compact, card.limits.streaming)


def _skill(card: AgentCard, current: Installation, skill_id: str | None) -> Skill:
    usable = [one for one in card.skills if set(one.required_permissions) <= set(current.accepted_permissions)]
    for skill in usable:
        if skill_id in {None, skill.id}:
            return skill
    said = "no Skill may be used" if skill_id is None else f"there is no Skill {skill_id} that may be used"
    raise UsageProblem(said, f"in {current.workspace_id}, {card.agent_id} offers {', '.join(one.id for one in usable)}")


def _require_offered(snippet: Snippet, callee: Callee) -> None:
    if not callee.offers.issuperset(snippet.needs):
        raise CommandProblem(
            f"{snippet.label} calls the door, and its address is not known",
            code="not_configured",
            recovery="--door URL, AOP_DOOR, or `aop login --door URL`; `aop up` and `aop door` serve one",
        )


def _list(platform: InWorkspace, callee: Callee, enabled: Sequence[Installation]) -> None:
    found = snippets.table()
    mcp = callee.values().get("mcpUrl")
    a2a = {one.agent_id: callee.a2a_url(one.agent_id) for one in enabled}
    document = {
        "gateway": callee.gateway,
        "workspace": callee.workspace,
        "door": callee.door,
        "mcp": mcp,
        "agents": [{"agentId": agent_id, "a2a": url} for agent_id, url in a2a.items()],
        "snippets": found.snippets,
    }
    lines: list[Line] = facts(
        ("Gateway", callee.gateway),
        ("MCP", str(mcp) if mcp else "the door's address is not known: --door URL"),
        *(("A2A", url) for url in a2a.values()),
    )
    for group in found.groups:
        rows = [(one.name, one.label, one.speaks) for one in found.snippets if one.group == group.name]
        lines += ["", styled((group.label, "bold")), *table(["--for", "from", "speaks"], rows)]
    platform.out.tell(document, *lines)


def _show(platform: InWorkspace, snippet: Snippet, callee: Callee) -> None:
    code = snippets.rendered(snippet, callee)
    token = snippets.token_text(snippet, callee, local=platform.destination.local is not None)
    notes = (("install", snippet.install), ("where", snippet.place), ("token", token), ("then", snippet.after))
    document = {"name": snippet.name, "label": snippet.label, "language": snippet.language, "code": code}
    platform.out.note(*facts(*notes))
    platform.out.tell(document | {name: text for name, text in notes if text}, code)
