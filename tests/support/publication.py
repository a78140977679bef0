"""A Gateway whose time and names are scripted, an Agent on loopback, and providers who act on them."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from aop.base.clock import utc_now
from aop.contracts.documents import document
from aop.control_plane.app import ControlPlaneEnvironment, build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from aop.net.http import HttpClient
from tests.support.authority import Authority
from tests.support.cards import a_card
from tests.support.endpoints import AgentEndpoint, agent_endpoint
from tests.support.errors import require_error
from tests.support.settings import control_plane_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import PATIENCE_SECONDS

Json = dict[str, Any]
ALLOWED = ("agent.test", "changing.test", "tls.test", "mixed.test")


FAILURES = {
    "wrong_proof": (400, "WRONG_PROOF"),
    "redirect_not_allowed": (400, "REDIRECT_NOT_ALLOWED"),
    "endpoint_unavailable": (503, "ENDPOINT_UNAVAILABLE"),
    "disallowed_network": (403, "DISALLOWED_NETWORK"),
}


class ScriptedClock:
    """Stands still until it is moved, or runs as the machine's clock does."""

    def __init__(self) -> None:
        self._at: datetime | None = None
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return (utc_now() if self._at is None else self._at) + self._ahead

    def stop(self, at: datetime) -> None:
        self._at, self._ahead = at, timedelta()

    def advance(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


@dataclass
class ScriptedNames:
    """Answers look-ups from a script, in turn, the last answer for ever; a name without a script does not exist."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)

    def __call__(self, host: str) -> Sequence[str]:
        self.queries.append(host)
        turns = self.answers.get(host)
        if turns is None:
            raise OSError("no such name")
        return turns.pop(0) if len(turns) > 1 else turns[0]


@dataclass(frozen=True)
class Provider:
    """One principal under one provider id; what it does must succeed unless a Reply is given back."""

    unit: RunningUnit
    token: str
    principal: str
    provider_id: str

    @property
    def path(self) -> str:
        return f"/v1/providers/{self.provider_id}"

    async def post(self, path: str, body: object = None) -> Reply:
        return await self.unit.post(path, body, token=self.token)

    async def get(self, path: str) -> Reply:
        return await self.unit.get(path, token=self.token)

    async def register(self, endpoint: str, agent_id: str = "acme:agent", version: str = "1.0.0") -> Json:
        card = a_card(agent_id=agent_id, version=version, owner=self.principal, endpoint=endpoint)
        return document_of(await self.post("/v1/agents", card), 201, "catalog-entry/1")

    async def disable(self, agent_id: str, version: str = "1.0.0") -> Json:
        return document_of(await self.post(f"/v1/agents/{agent_id}/versions/{version}/disable"), 200, "catalog-entry/1")

    async def card(self, agent_id: str, version: str = "1.0.0") -> Json:
        entries = document_of(await self.get(f"/v1/agents/{agent_id}"), 200, "agent-overview/2")["versions"]
        return next(entry for entry in entries if entry["version"] == version)

    async def bind(self, endpoint: str, agent_id: str = "acme:agent", version: str = "1.0.0") -> Reply:
        body = {"endpoint": endpoint, "method": "http_well_known", "version": version}
        return await self.post(f"{self.path}/agents/{agent_id}/endpoint-bindings", body)

    async def new_binding(self, endpoint: str, agent_id: str = "acme:agent", version: str = "1.0.0") -> Json:
        """Registers the Card too."""
        await self.register(endpoint, agent_id, version)
        return document_of(await self.bind(endpoint, agent_id, version), 201, "endpoint-binding/1")

    async def binding(self, binding: Json) -> Json:
        return document_of(
            await self.get(f"{self.path}/endpoint-bindings/{binding['bindingId']}"), 200, "endpoint-binding/1"
        )

    async def challenge(self, binding: Json) -> Json:
        reply = await self.post(f"{self.path}/endpoint-bindings/{binding['bindingId']}/challenges")
        return document_of(reply, 201, "challenge/1")

    async def complete(self, challenge: Json) -> Reply:
        path = f"{self.path}/endpoint-bindings/{challenge['bindingId']}/challenges/{challenge['challengeId']}/complete"
        return await self.post(path)

    async def verify_binding(self, binding: Json, agent: AgentEndpoint) -> Json:
        challenge = await self.challenge(binding)
        agent.serve(challenge["challengeId"], challenge["proof"])
        return document_of(await self.complete(challenge), 200, "endpoint-binding/1")

    async def new_verified_binding(
        self, agent: AgentEndpoint, agent_id: str = "acme:agent", version: str = "1.0.0"
    ) -> Json:
        return await self.verify_binding(await self.new_binding(agent.url, agent_id, version), agent)

    async def request_release(self, binding: Json, **changes: Any) -> Reply:
        body = {"version": binding["version"], "endpointBindingId": binding["bindingId"], **changes}
        return await self.post(f"{self.path}/agents/{binding['agentId']}/releases", body)

    async def new_release(self, binding: Json) -> Json:
        return document_of(await self.request_release(binding), 201, "release/2")

    async def act(self, verb: str, release: Json) -> Reply:
        return await self.post(f"/v1/releases/{release['releaseId']}/{verb}")

    async def move(self, verb: str, release: Json) -> Json:
        return document_of(await self.act(verb, release), 200, "release/2")

    async def release(self, release: Json) -> Json:
        return document_of(await self.get(f"/v1/releases/{release['releaseId']}"), 200, "release/2")


@dataclass(frozen=True)
class Scene:
    unit: RunningUnit
    clock: ScriptedClock
    names: ScriptedNames
    agent: AgentEndpoint
    alice: Provider
    bob: Provider
    stores: DatabaseUrls
    numbers: Callable[[], int]

    async def serving_challenge(self, binding: Json) -> Json:
        """A new Challenge of Alice's whose proof the Agent serves."""
        challenge = await self.alice.challenge(binding)
        self.agent.serve(challenge["challengeId"], challenge["proof"])
        return challenge

    async def new_release(self) -> Json:
        """A verified Release of a new Agent of Alice's."""
        agent_id = f"acme:agent-{self.numbers()}"
        return await self.alice.new_release(await self.alice.new_verified_binding(self.agent, agent_id))


def document_of(reply: Reply, status: int, name: str) -> Json:
    """The body of a success, which must be what the contract says."""
    assert reply.status == status, reply.body
    body: Json = reply.json
    assert document(name).violations(body) == ()
    assert reply.header("cache-control") == "no-store"
    return body


async def require_failure(scene: Scene, binding: Json, failure: str) -> None:
    """Completes a fresh Challenge, which must fail like this, stay so, and be spent."""
    challenge = await scene.alice.challenge(binding)
    status, code = FAILURES[failure]
    require_error(await scene.alice.complete(challenge), status, code, "2")
    failed = await scene.alice.binding(binding)
    assert (failed["verificationStatus"], failed["verificationFailureCode"]) == ("failed", failure)
    visits = scene.agent.connections
    require_error(await scene.alice.complete(challenge), 409, "CHALLENGE_REUSED", "2")
    assert await scene.alice.binding(binding) == failed
    assert scene.agent.connections == visits


@asynccontextmanager
async def publication_scene(
    stores: DatabaseUrls, *, authority: Authority | None = None, **settings: str
) -> AsyncIterator[Scene]:
    clock, names = ScriptedClock(), ScriptedNames({"agent.test": [["127.0.0.1"]]})
    environment = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        PLATFORM_CA_FILE=None if authority is None else str(authority.roots),
        **{"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": json.dumps(ALLOWED), **settings},
    )
    peers = ControlPlaneEnvironment(clock=clock, lookup=names)
    async with (
        agent_endpoint() as agent,
        running(lambda: build(read_control_plane_settings(environment), peers)) as unit,
    ):
        alice = await provider(unit, stores, "alice", "acme")
        bob = await provider(unit, stores, "bob", "globex")
        yield Scene(unit, clock, names, agent, alice, bob, stores, count(1).__next__)


async def provider(unit: RunningUnit, stores: DatabaseUrls, principal: str, provider_id: str) -> Provider:
    token = (await issue_token(stores.control_plane, principal)).token.reveal()
    return Provider(unit, token, principal, provider_id)


@asynccontextmanager
async def process_on(port: int) -> AsyncIterator[RunningUnit]:
    """A unit that runs as a process of its own; only its port is known."""
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    nothing: Any = None
    try:
        yield RunningUnit(nothing, nothing, port, client)
    finally:
        await client.close()
