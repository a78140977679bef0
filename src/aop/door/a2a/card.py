"""The agent card of an installed Agent, in the forms of A2A 0.3 and 1.0: the door's address and the Agent's Skills.

A caller that names no version gets both forms in one document; readers of either ignore the members of the other.
"""

from typing import Any, Final

from aop.a2a.rpc import MODES
from aop.a2a.versions import A2AVersion
from aop.contracts.card import Skill
from aop.door.installed import InstalledAgent

CARD_PATHS: Final = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Today's place and the older one, both below the path of the Agent."""

PROTOCOL_0_3: Final = "0.3.0"
TRANSPORT: Final = "JSONRPC"
SCHEME: Final = "platform"
_HINT: Final = "An access token of the platform, for somebody who may call Agents in this Workspace."


def agent_card(agent: InstalledAgent, url: str, version: A2AVersion | None) -> dict[str, Any]:
    """With no version the members of both. The Agent's own address is in none."""
    card = agent.card
    common: dict[str, Any] = {
        "name": card.name,
        "description": card.description,
        "version": card.version,
        # An Agent that does not stream is called in JSON mode, and its result is a stream of one chunk.
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": list(MODES),
        "defaultOutputModes": list(MODES),
        "skills": [_skill(skill) for skill in agent.skills],
    }
    legacy = {
        "url": url,
        "protocolVersion": PROTOCOL_0_3,
        "preferredTransport": TRANSPORT,
        "security": [{SCHEME: []}],
        "supportsAuthenticatedExtendedCard": False,
    }
    current = {
        "supportedInterfaces": [
            {"url": url, "protocolBinding": TRANSPORT, "protocolVersion": one.value} for one in reversed(A2AVersion)
        ],
        "securityRequirements": [{"schemes": {SCHEME: {"list": []}}}],
    }
    legacy_scheme = {"type": "http", "scheme": "bearer", "description": _HINT}
    current_scheme = {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": _HINT}}
    if version is A2AVersion.V0_3:
        return {**common, **legacy, "securitySchemes": {SCHEME: legacy_scheme}}
    if version is A2AVersion.V1_0:
        return {**common, **current, "securitySchemes": {SCHEME: current_scheme}}
    return {**common, **legacy, **current, "securitySchemes": {SCHEME: {**legacy_scheme, **current_scheme}}}


def _skill(skill: Skill) -> dict[str, Any]:
    """The schemas of a Skill have no place in an agent card; its permissions do not concern a caller."""
    return {"id": skill.id, "name": skill.name, "description": skill.description, "tags": []}
