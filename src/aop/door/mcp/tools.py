"""One tool: what an MCP host reads about a Skill, and what a call of it must know."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from aop.contracts.card import AgentCard, Skill
from aop.contracts.text import cleaned, escaped
from aop.door.installed import InstalledAgent
from aop.door.mcp.names import SkillKey, tool_names
from aop.door.mcp.schemas import input_schema, output_schema

AGENT_ID: Final = "aop/agentId"
SKILL_ID: Final = "aop/skillId"
AGENT_VERSION: Final = "aop/agentVersion"
RELEASE_ID: Final = "aop/releaseId"

# A Card says nothing about effects, and an Agent may do anything behind its endpoint: a host should ask its user.
_ANNOTATIONS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


@dataclass(frozen=True, slots=True)
class SkillTool:
    """A Skill as a tool that has no name yet: names depend on what else is installed."""

    key: SkillKey
    release_id: str
    streaming: bool
    wrapped: bool
    described: bytes
    """The members of the tool after its name, as JSON text that begins with a comma and ends with the brace."""


def skill_tools(card: AgentCard, release_id: str) -> tuple[SkillTool, ...]:
    """All Skills of a Card. Takes some milliseconds for a long one."""
    return tuple(_skill_tool(card, skill, release_id) for skill in card.skills)


def named_tools(installed: Iterable[tuple[InstalledAgent, tuple[SkillTool, ...]]]) -> dict[str, SkillTool]:
    """By name, in the order of the names: what can be called with the permissions that were accepted."""
    usable: dict[SkillKey, SkillTool] = {}
    for agent, tools in installed:
        skills = {skill.id for skill in agent.skills}
        usable |= {tool.key: tool for tool in tools if tool.key[1] in skills}
    return {name: usable[key] for name, key in sorted((name, key) for key, name in tool_names(usable).items())}


def tool_document(name: str, tool: SkillTool) -> bytes:
    return b'{"name":"%b"%b' % (name.encode(), tool.described)


def _skill_tool(card: AgentCard, skill: Skill, release_id: str) -> SkillTool:
    taken = input_schema(msgspec.json.decode(skill.input_schema))
    streaming = card.limits.streaming
    title = f"{cleaned(skill.name, lines=False)} ({card.agent_id} {skill.id})"
    described: dict[str, Any] = {
        "title": title,
        "description": _description(card, skill),
        "inputSchema": taken.schema,
        "outputSchema": output_schema(msgspec.json.decode(skill.output_schema), streaming=streaming),
        "annotations": {"title": title, **_ANNOTATIONS},
        "_meta": {
            AGENT_ID: card.agent_id,
            SKILL_ID: skill.id,
            AGENT_VERSION: card.version,
            RELEASE_ID: release_id,
        },
    }
    text = escaped(msgspec.json.encode(described).decode()).encode()
    return SkillTool((card.agent_id, skill.id), release_id, streaming, taken.wrapped, b"," + text[1:])


def _description(card: AgentCard, skill: Skill) -> str:
    agent = f"{cleaned(card.name, lines=False)} {card.version} of {cleaned(card.owner.display_name, lines=False)}"
    return f"{cleaned(skill.description)}\n\nA Skill of the Agent {agent}: {cleaned(card.description)}"
