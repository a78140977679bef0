"""The Control Plane of a simulated world, in place of the Router's HTTP client to it: one Workspace, four Releases."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.base.canonical import canonical
from aop.contracts.topology import WatchedRelease, WatchedState
from aop.net.http import Answer
from aop.router.targets.card import TargetCard, target_card
from proof.simulation.plan import Kind
from tests.support.cards import a_card, a_skill, some_limits

WORKSPACE = "space"
CAPABILITY = "work"
AGENT_HOST = "127.0.0.1:9000"
_OUTPUT = {"type": "object", "required": ["n"]}


@dataclass(frozen=True)
class Published:
    agent_id: str
    release_id: str
    document: bytes
    digest: str
    card: TargetCard

    def watched(self, state: WatchedState = WatchedState.PUBLISHED) -> WatchedRelease:
        named = {"agent_id": self.agent_id, "version": "1.0.0", "release_id": self.release_id}
        return WatchedRelease(**named, card_digest=self.digest, state=state)


def _published(number: int, agent_id: str, **members: Any) -> Published:
    skill = a_skill(CAPABILITY, inputSchema={"type": "object"}, outputSchema=_OUTPUT)
    card = a_card(
        agent_id=agent_id, endpoint=f"http://{AGENT_HOST}/a2a", **{"skills": [skill], "permissions": [], **members}
    )
    document = canonical(card)
    digest = hashlib.sha256(document).hexdigest()
    return Published(agent_id, f"rel_{number:032x}", document, digest, target_card(document, digest))


RELEASES: Mapping[Kind, Published] = {
    Kind.USUAL: _published(1, "acme:usual", limits=some_limits(timeoutMs=5_000)),
    Kind.HASTY: _published(2, "acme:hasty", limits=some_limits(timeoutMs=1_500)),
    Kind.WHOLE: _published(3, "acme:whole", limits=some_limits(timeoutMs=5_000, streaming=False)),
    Kind.FOREIGN: _published(4, "acme:foreign", authentication={"type": "none"}),
}
_BY_AGENT = {release.agent_id: release for release in RELEASES.values()}


class SimulatedControlPlane:
    """Answers what the Router asks, after as long as the plan of the asking Invocation says."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    async def request(self, target: Any, method: str, path: str, **sent: Any) -> Answer:
        question = msgspec.json.decode(sent["body"])
        release = _BY_AGENT[question["agentId"]]
        await asyncio.sleep(self._seconds.get(question["invocationId"], 0.001))
        pin = {"version": "1.0.0", "releaseId": release.release_id, "agentCardDigest": release.digest}
        pin["authorizationDigest"] = release.digest
        body = json.dumps(pin).encode() if path.endswith("resolve-installed-version") else _resolved(release)
        trace = (b"x-platform-trace-id", question["traceId"].encode("ascii"))
        return Answer(200, ((b"content-type", b"application/json"), trace), body)


def _resolved(release: Published) -> bytes:
    installation = {
        "installationId": "inst_0190f5c0113c7a219b8c7d6e5f400001",
        "workspaceId": WORKSPACE,
        "agentId": release.agent_id,
        "installedVersion": "1.0.0",
        "installedReleaseId": release.release_id,
        "agentCardDigest": release.digest,
        "acceptedPermissions": [],
        "status": "enabled",
    }
    return b'{"card":%b,"installation":%b}' % (release.document, json.dumps(installation).encode())
