"""A front on a real socket before an Agent that a test plays, and the Router's side of it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from aop.agent.testing import SignedRouter
from aop.contracts.front_settings import FrontSettings
from aop.front.app import build
from aop.front.settings import resolve
from aop.net.http import HttpClient
from aop.net.server import HttpServer, listening_socket
from aop.serving.unit.health import Readiness
from tests.agent.served import ServedAgent
from tests.support.cards import a_card, a_skill
from tests.support.waiting import PATIENCE_SECONDS

AGENT, VERSION, SKILL = "acme:old", "1.0.0", "ask"
MAX_OUTPUT = 65_536


@dataclass
class ServedFront(ServedAgent):
    card: dict[str, Any] = field(default_factory=dict)
    readiness: Readiness | None = None


def card_of(origin: str, *, agent_id: str = AGENT, version: str = VERSION, **limits: Any) -> dict[str, Any]:
    skill = a_skill(SKILL, inputSchema={}, outputSchema=limits.pop("outputSchema", {}))
    fitting = {"timeoutMs": 20_000, "maxInputBytes": 65_536, "maxOutputBytes": MAX_OUTPUT, "streaming": True} | limits
    endpoint = f"{origin}/{agent_id}/{version}"
    return a_card(agent_id=agent_id, version=version, endpoint=endpoint, skills=[skill], limits=fitting)


def settings_of(folder: Path, router: SignedRouter, agents: Sequence[dict[str, Any]], **members: Any) -> FrontSettings:
    """Writes the Card of each agent, given under `card`, and names its file in its place."""
    (folder / ".proofs").mkdir(exist_ok=True)
    listed = []
    for number, agent in enumerate(agents):
        (folder / f"card-{number}.json").write_text(json.dumps(agent["card"]))
        listed.append({**agent, "card": f"card-{number}.json"})
    trusted = {"issuer": router.issuer, "keyId": router.key_id, "publicKey": router.key.public_text}
    document = {"origin": router.audience, "router": trusted, "agents": listed, **members}
    return msgspec.convert(document, FrontSettings)


@asynccontextmanager
async def served_front(folder: Path, url: str, speaks: str = "a2a-0.3", **members: Any) -> AsyncIterator[ServedFront]:
    """One Agent behind the front; `limits` are those of its Card, other members its own in the settings.

    `seed` is that of the Router which the front trusts.
    """
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    seed, audience = members.pop("seed", None), f"http://127.0.0.1:{port}"
    router = SignedRouter.new(audience, seed, agent_id=AGENT, agent_version=VERSION)
    card = card_of(router.audience, **members.pop("limits", {}))
    of_front, environment = members.pop("front", {}), members.pop("environment", {})
    settings = settings_of(folder, router, [{"card": card, "url": url, "speaks": speaks, **members}], **of_front)
    unit = await build(resolve(settings, folder, environment))
    server = HttpServer(unit.application)
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    try:
        await server.start([listener])
        yield ServedFront(router, port, client, SKILL, f"/{AGENT}/{VERSION}", card, unit.readiness)
    finally:
        await client.close()
        await server.stop(1)
        await unit.close()
