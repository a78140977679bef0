"""The Agent Card of an Agent's own project, and the public A2A card that is made of it."""

from pathlib import Path
from typing import Any, Final

import msgspec

from aop.a2a.rpc import MODES
from aop.base import json as strict_json
from aop.contracts.card import AGENT_ID_EXTENSION, AgentCard, AgentIdExtension, AgentIdParams
from aop.net.origin import Endpoint

PUBLIC_CARD_PATH: Final = "/.well-known/agent-card.json"
_BEARER: Final = "platform"


def load_card(module_file: str) -> AgentCard:
    """The card.json inside the package of that module, as in a wheel, or next to the package, as in a checkout."""
    package = Path(module_file).parent
    path = next((place for place in (package, package.parent) if (place / "card.json").is_file()), package.parent)
    return strict_json.decode((path / "card.json").read_bytes(), AgentCard)


def public_card(card: AgentCard, origin: str) -> dict[str, Any]:
    """What A2A lets everyone read, for the origin on which the Agent is reached."""
    return {
        "name": card.name,
        "description": card.description,
        "version": card.version,
        "url": origin + Endpoint.parse(card.protocol.endpoint).path,
        "protocolVersion": card.protocol.version,
        "preferredTransport": card.protocol.transport,
        "capabilities": {
            "streaming": card.limits.streaming,
            "pushNotifications": False,
            "stateTransitionHistory": False,
            "extensions": [msgspec.to_builtins(_extension(card))],
        },
        "securitySchemes": {
            _BEARER: {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "JWT",
                "description": "The credential that the platform's Router signs for each request.",
            }
        },
        "security": [{_BEARER: []}],
        "defaultInputModes": list(MODES),
        "defaultOutputModes": list(MODES),
        "skills": [
            {"id": skill.id, "name": skill.name, "description": skill.description, "tags": []} for skill in card.skills
        ],
    }


def _extension(card: AgentCard) -> AgentIdExtension:
    return AgentIdExtension(uri=AGENT_ID_EXTENSION, params=AgentIdParams(agent_id=card.agent_id))
