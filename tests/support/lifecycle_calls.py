"""Steps of the lifecycle models as HTTP calls: knows the identifiers that symbols stand for, and words the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aop.contracts.documents import document
from tests.support.cards import a_card
from tests.support.errors import require_error
from tests.support.lifecycle_model import Outcome, Step
from tests.support.publication import Json, Scene
from tests.support.units import Reply

CHALLENGE_SECONDS = 601
DOCUMENTS = {
    **dict.fromkeys(("register", "publish_card", "disable_card"), "catalog-entry/1"),
    **dict.fromkeys(("bind", "read_binding", "complete"), "endpoint-binding/1"),
    **dict.fromkeys(("release", "move", "read_release"), "release/2"),
    **dict.fromkeys(("install", "set_status", "uninstall", "read_installation"), "installation/2"),
    "challenge": "challenge/1",
    "read_card": "agent-card/0.2",
    "create_space": "workspace/1",
}
IDS = {"bind": "bindingId", "challenge": "challengeId", "release": "releaseId", "install": "installationId"}
"""What a call that makes something answers it by."""


@dataclass
class Calls:
    """Turns steps into HTTP calls and answers into outcomes; knows the identifiers that symbols stand for."""

    scene: Scene
    ids: dict[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    """Members of every Card that is registered."""

    async def send(self, step: Step) -> Outcome:
        if step.kind == "pass_time":
            self.scene.clock.advance(CHALLENGE_SECONDS)
            return 200, ""
        method, path, body = getattr(self, f"_{step.kind}")(*step.target)
        token = {"alice": self.scene.alice, "bob": self.scene.bob}[step.who].token
        if step.kind == "register":
            named = {"agent_id": step.target[0], "version": step.target[1], "owner": step.who}
            body = a_card(endpoint=self.scene.agent.url, **named, **self.card)
        return self._outcome(step, await self.scene.unit.ask(method, path, body, token=token))

    def _outcome(self, step: Step, reply: Reply) -> Outcome:
        if reply.status >= 400:
            envelope = "3" if DOCUMENTS[step.kind] in {"installation/2", "workspace/1"} else "2"
            require_error(reply, reply.status, reply.code, envelope)
            return reply.status, reply.code
        answer: Json = reply.json
        assert document(DOCUMENTS[step.kind]).violations(answer) == ()
        if step.kind in IDS:
            self.ids[step.target[0]] = answer[IDS[step.kind]]
        if step.kind == "challenge":
            right = step.target[-1] == "right"
            self.scene.agent.serve(answer["challengeId"], answer["proof"] if right else "0" * 64)
            return reply.status, ""
        return reply.status, reply.header("x-platform-publication-status") or _state(answer)

    def _register(self, _: str, __: str) -> tuple[str, str, object]:
        return "POST", "/v1/agents", None

    def _publish_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "POST", f"/v1/agents/{agent}/versions/{version}/publish", None

    def _disable_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "POST", f"/v1/agents/{agent}/versions/{version}/disable", None

    def _read_card(self, agent: str, version: str) -> tuple[str, str, object]:
        return "GET", f"/v1/agents/{agent}/versions/{version}", None

    def _bind(self, _: str, provider: str, agent: str, version: str, endpoint: str) -> tuple[str, str, object]:
        url = self.scene.agent.url if endpoint == "right" else self.scene.agent.url + "/other"
        body = {"endpoint": url, "method": "http_well_known", "version": version}
        return "POST", f"/v1/providers/{provider}/agents/{agent}/endpoint-bindings", body

    def _read_binding(self, provider: str, binding: str) -> tuple[str, str, object]:
        return "GET", f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}", None

    def _challenge(self, _: str, provider: str, binding: str, __: str) -> tuple[str, str, object]:
        return "POST", f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}/challenges", None

    def _complete(self, provider: str, binding: str, challenge: str) -> tuple[str, str, object]:
        path = f"/v1/providers/{provider}/endpoint-bindings/{self._id(binding)}"
        return "POST", f"{path}/challenges/{self._id(challenge)}/complete", None

    def _release(self, _: str, provider: str, agent: str, version: str, binding: str) -> tuple[str, str, object]:
        body = {"version": version, "endpointBindingId": self._id(binding)}
        return "POST", f"/v1/providers/{provider}/agents/{agent}/releases", body

    def _move(self, verb: str, release: str) -> tuple[str, str, object]:
        return "POST", f"/v1/releases/{self._id(release)}/{verb}", None

    def _read_release(self, release: str) -> tuple[str, str, object]:
        return "GET", f"/v1/releases/{self._id(release)}", None

    def _create_space(self, space: str) -> tuple[str, str, object]:
        return "POST", "/v1/workspaces", {"workspaceId": space}

    def _install(self, _: str, space: str, agent: str) -> tuple[str, str, object]:
        body = {"agentId": agent, "versionConstraint": "*", "acceptedPermissions": []}
        return "POST", f"/v1/workspaces/{space}/installations", body

    def _set_status(self, space: str, symbol: str, status: str) -> tuple[str, str, object]:
        return "PATCH", self._installation(space, symbol), {"status": status}

    def _uninstall(self, space: str, symbol: str) -> tuple[str, str, object]:
        return "DELETE", self._installation(space, symbol), None

    def _read_installation(self, space: str, symbol: str) -> tuple[str, str, object]:
        return "GET", self._installation(space, symbol), None

    def _installation(self, space: str, symbol: str) -> str:
        return f"/v1/workspaces/{space}/installations/{self._id(symbol)}"

    def _id(self, symbol: str) -> str:
        return self.ids.get(symbol, "none_such")


def _state(answer: Json) -> str:
    """What the answer shows of the state, as the models word it."""
    if "publicationStatus" in answer:
        release = None if answer["release"] is None else answer["release"]["state"]
        return f"{answer['publicationStatus']} {release} {answer['installable']}"
    if "verificationStatus" in answer:
        failure = answer.get("verificationFailureCode")
        return str(answer["verificationStatus"]) + (f" {failure}" if failure else "")
    if "installedVersion" in answer:
        return f"{answer['status']} {answer['installedVersion']}"
    return str(answer.get("state", ""))
