"""What a Workspace has installed, and what a person reads about a Card before they accept it."""

from collections.abc import Sequence

import msgspec

from aop.cli.shell.output import Line, styled, table
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.contracts.card import AgentCard
from aop.contracts.catalog import AgentOverview, Resemblance, ResemblingPart
from aop.contracts.text import mixes_scripts
from aop.contracts.workspace import Installation, InstallationStatus


async def find_installation(platform: InWorkspace, agent: str) -> Installation | None:
    """That of an Agent, which is not uninstalled."""
    async for one in platform.client.list_installations(platform.workspace_id):
        if one.agent_id == agent and one.status is not InstallationStatus.UNINSTALLED:
            return one
    return None


async def current_installation(platform: InWorkspace, agent: str) -> Installation:
    """That of an Agent, or the one with this id."""
    if agent.startswith("inst_"):
        return await platform.client.read_installation(platform.workspace_id, agent)
    if (current := await find_installation(platform, agent)) is not None:
        return current
    raise CommandProblem(
        f"{agent} is not installed in the Workspace {platform.workspace_id}",
        code="AGENT_NOT_INSTALLED",
        recovery="`aop installations` lists what is installed; `aop install AGENT` installs another",
    )


def permission_lines(card: AgentCard, accepted: Sequence[str]) -> list[Line]:
    """What the Agent asks for, what of it is accepted, and which Skills will be refused for that."""
    lines: list[Line] = []
    if card.permissions:
        rows = [("yes" if one.id in accepted else "no", one.id, one.description) for one in card.permissions]
        lines += table(["accept", "permission", "meaning"], rows)
    refused = [skill.id for skill in card.skills if not set(skill.required_permissions) <= set(accepted)]
    if refused:
        sentence = f"Skills that will be refused, because a permission is not accepted: {', '.join(refused)}"
        lines.append(styled((sentence, "yellow")))
    return lines


def name_warnings(overview: AgentOverview, card: AgentCard) -> list[Line]:
    found = [] if overview.resembles is msgspec.UNSET else [_resemblance(one) for one in overview.resembles]
    for what, name in (("its name", card.name), ("the name of its owner", card.owner.display_name)):
        if mixes_scripts(name):
            found.append(f"{what}, {name}, mixes letters of scripts that look alike")
    return [styled(("warning  ", "bold yellow"), (text, "yellow")) for text in found]


def _resemblance(one: Resemblance) -> str:
    if one.part is ResemblingPart.NAME:
        return f"{one.text} looks like {one.agent_id} of {one.owner_id}, which was published before it"
    if one.agent_id is msgspec.UNSET:
        return f"the prefix {one.text} is the provider id of {one.owner_id}, not of its owner"
    return f"the prefix {one.text} was used first by {one.owner_id}, in {one.agent_id}, not by its owner"
