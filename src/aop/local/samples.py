"""The sample Agents: where each is, which Python it has, and how it is run as a unit."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from aop.agent.guard.settings import (
    AUDIENCE,
    CHALLENGE_DIRECTORY,
    ISSUER,
    KEY_ID,
    LISTEN_ADDRESS,
    PUBLIC_KEY,
    REQUEST_MAX_BYTES,
    ROUTER_URL,
)
from aop.base import assets
from aop.contracts.card import AgentCard
from aop.local.ports import Ports
from aop.local.problems import SampleUnusable
from aop.local.state import RouterCredential
from aop.local.unit import SupervisedUnit, answers_ready
from aop.net.address_settings import ListenAddress
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.processes.child import Launch

_STOP_SECONDS = 3.0
# Settings of the platform are none of its business; the others would redirect its own Python or make it slow.
_NOT_PASSED_ON = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"})


@dataclass(frozen=True)
class Sample:
    """One folder of agents/, and the address it listens on in this platform."""

    folder: Path
    python: Path
    template: Mapping[str, Any]
    """card.json, before the owner and the endpoint of this platform are put in."""
    card: AgentCard
    address: ListenAddress

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def origin(self) -> str:
        return self.address.origin

    @property
    def endpoint(self) -> str:
        return self.origin + Endpoint.parse(self.card.protocol.endpoint).path

    @property
    def usual_port(self) -> int:
        """The port in its card.json; if that was taken, the platform chose another."""
        return Endpoint.parse(self.card.protocol.endpoint).port

    def card_for(self, principal: str) -> dict[str, Any]:
        """The Card to publish."""
        return {
            **self.template,
            "owner": {**self.template["owner"], "id": principal},
            "protocol": {**self.template["protocol"], "endpoint": self.endpoint},
        }

    def unit(
        self,
        credential: RouterCredential,
        router_origin: str,
        proofs: Path,
        caller: Mapping[str, str],
        listener: socket.socket,
    ) -> SupervisedUnit:
        supplied = {
            ISSUER: credential.issuer,
            AUDIENCE: self.origin,
            KEY_ID: credential.key_id,
            PUBLIC_KEY: credential.public_key,
            ROUTER_URL: router_origin,
            LISTEN_ADDRESS: self.address.text,
            CHALLENGE_DIRECTORY: str(proofs),
        }
        # -P: a file in the current folder must not stand in for a module.
        command = (str(self.python), "-P", "-m", self.name.replace("-", "_"))
        return SupervisedUnit(
            f"agent:{self.card.agent_id}",
            Launch(command, _ordinary(caller) | supplied, listeners=(listener,)),
            answers_ready(self.origin),
            stop_seconds=_STOP_SECONDS,
            label=self.name,
        )


def find_samples(
    addresses: Sequence[ListenAddress], checkout: Path | None = None, environments: Path | None = None
) -> list[Sample]:
    """Those of the checkout or the installed package this is part of, by their usual ports."""
    agents = assets.folder("agents") if checkout is None else checkout / "agents"
    made_in = agents.parent / ".dev" / "agents" if environments is None else environments
    places = dict(zip(Ports().agents, addresses, strict=True))
    samples = [_sample(path.parent, made_in, places) for path in sorted(agents.glob("*/card.json"))]
    return sorted(samples, key=lambda sample: sample.usual_port)


def _sample(folder: Path, environments: Path, places: dict[int, ListenAddress]) -> Sample:
    """Takes the address that belongs to the usual port in its card.json."""
    python = environments / folder.name / "bin" / "python"
    if not (python.is_file() and (python.parents[1] / ".stamp").is_file()):
        raise SampleUnusable(
            f"the sample Agent {folder.name} has no environment in {python.parents[1]}:"
            f" make it with `./dev up`, or start without the Agents with --no-agents"
        )
    content = (folder / "card.json").read_bytes()
    try:
        card = msgspec.json.decode(content, type=AgentCard)
        port = Endpoint.parse(card.protocol.endpoint).port
    except (msgspec.DecodeError, InvalidEndpoint) as problem:
        raise SampleUnusable(f"{folder / 'card.json'} is no Agent Card: {problem}") from None
    address = places.pop(port, None)
    if address is None:
        wanted = " or ".join(map(str, Ports().agents))
        raise SampleUnusable(
            f"{folder / 'card.json'}: protocol.endpoint must have port {wanted}, and no other sample Agent the same"
        )
    return Sample(folder, python, msgspec.json.decode(content), card, address)


def _ordinary(caller: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in caller.items()
        if name == REQUEST_MAX_BYTES or not (name.startswith("PLATFORM_") or name in _NOT_PASSED_ON)
    }
