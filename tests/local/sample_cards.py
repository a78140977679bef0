"""The Cards of the sample Agents, by the name of their folder."""

import json
from typing import Any

from tools.agent_env import AGENTS

Json = dict[str, Any]
CARDS: dict[str, Json] = {path.parent.name: json.loads(path.read_text()) for path in sorted(AGENTS.glob("*/card.json"))}
