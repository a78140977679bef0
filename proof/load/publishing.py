"""A provider who publishes one version after another through the Gateway, and finds each of them again at once."""

import json
from dataclasses import dataclass
from typing import Any

from proof.load.calls import Caller
from tests.support.cards import a_card
from tests.support.loop import open_skill

_AGENT, _PROVIDER = "acme:published", "acme-publishing"


@dataclass
class Publisher:
    caller: Caller
    published: int = 0

    async def publish(self) -> None:
        """The whole way: Card, Binding, challenge, proof, Release; then Discovery must show the version."""
        version, endpoint = f"1.0.{self.published}", f"http://127.0.0.1:{self.caller.place.agent_port}/a2a"
        card = a_card(agent_id=_AGENT, version=version, endpoint=endpoint, skills=[open_skill()], permissions=[])
        await self._post("/v1/agents", card)
        wanted = {"version": version, "endpoint": endpoint, "method": "http_well_known"}
        binding = await self._post(f"/v1/providers/{_PROVIDER}/agents/{_AGENT}/endpoint-bindings", wanted)
        challenges = f"/v1/providers/{_PROVIDER}/endpoint-bindings/{binding['bindingId']}/challenges"
        challenge = await self._post(challenges)
        place = f"/.well-known/platform/challenges/{challenge['challengeId']}"
        await self.caller.ask("PUT", place, challenge["proof"].encode(), agent=True)
        await self._post(f"{challenges}/{challenge['challengeId']}/complete")
        asked = {"version": version, "endpointBindingId": binding["bindingId"]}
        release = await self._post(f"/v1/providers/{_PROVIDER}/agents/{_AGENT}/releases", asked)
        await self._post(f"/v1/releases/{release['releaseId']}/publish")
        found = json.loads((await self.caller.ask("GET", f"/v1/agents/{_AGENT}?limit=1")).body)
        assert version in json.dumps(found), f"{version} was published and is not found"
        self.published += 1

    async def _post(self, path: str, body: object = None) -> Any:
        answer = await self.caller.ask("POST", path, body)
        assert answer.status < 300, f"{path}: {answer.status} {answer.body!r}"
        return json.loads(answer.body)
