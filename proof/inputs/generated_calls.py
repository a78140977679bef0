"""Calls that schemathesis makes up from the four OpenAPI documents as shipped, right and wrong, to running units."""

import random
import re
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from aop.base.ids import new_id
from aop.net.http import Answer
from proof.authorization.rules import OWN, Access
from proof.authorization.world import World
from tests.support.conformance import require_conformance
from tests.support.loop import CAPABILITY
from tools.openapi_bundle import BUNDLED

Operation = APIOperation[Any, Any, Any, Any]

CHECKS = [status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
ENDLESS = "/internal/v1/topology/watch"
SIGN_OUT = ("DELETE", "/v1/me/token")
_ROOT_TASK = re.compile("task_[0-9a-f]{32}")
_PASSES = {
    "gateway.v1": Access.CALLER,
    "control-plane-internal.v1": Access.ROUTER,
    "router-internal.v1": Access.CONTROL_PLANE,
    "router-agent.v1": Access.DELEGATION,
}


@dataclass
class Calls:
    """Blocks, so that it belongs into a thread; counts the answers of each document and keeps what was wrong."""

    world: World
    number: int
    examples: int
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.number)
        self._session = requests.Session()
        self._session.trust_env = False

    def make(self) -> None:
        with self._session:
            for document in _PASSES:
                for operation in _operations(document):
                    for mode, ids in self._forms(operation):
                        self._group(document, operation, mode, ids)

    def _forms(self, operation: Operation) -> Iterator[tuple[GenerationMode, dict[str, str] | None]]:
        """With ids made up, with everything wrong, and with ids of things that exist."""
        named = self.world.named["alice"]
        yield GenerationMode.POSITIVE, None
        if operation.body or any(_can_be_wrong(one.definition["schema"]) for one in operation.iter_parameters()):
            yield GenerationMode.NEGATIVE, None
        if operation.path_parameters:
            yield GenerationMode.POSITIVE, {one.name: named[one.name, OWN] for one in operation.path_parameters}

    def _group(self, document: str, operation: Operation, mode: GenerationMode, ids: dict[str, str] | None) -> None:
        @seed(self.number)
        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode, path_parameters=ids))
        def one(case: Case[Any]) -> None:
            self._deepen(case)
            self._send(document, operation, case)

        try:
            one()
        except (Exception, BaseExceptionGroup) as problem:  # noqa: BLE001  whatever it is, it is what is looked for
            reasons = "".join(traceback.format_exception(problem))
            self.broken.append(f"{document} {operation.label}: {reasons[-2500:]}")

    def _send(self, document: str, operation: Operation, case: Case[Any]) -> None:
        sent = case.as_transport_kwargs(base_url=self.world.unit(document).origin)
        # Also where schemathesis would leave it out.
        sent["headers"]["authorization"] = f"Bearer {self._token(document, operation)}"
        with self._session.request(**sent, stream=True, timeout=20) as answered:
            self.statuses[document, answered.status_code] += 1
            if operation.path == ENDLESS and answered.status_code == 200:
                assert answered.headers["content-type"] == "text/event-stream"
                return
            response = Response.from_requests(answered, verify=True)
        if response.headers.get("content-type") != ["text/event-stream"]:  # of those it reads events, not the text
            case.validate_response(response, checks=CHECKS)
        headers = tuple((name.encode(), value.encode()) for name, of in response.headers.items() for value in of)
        path = urlsplit(str(sent["url"])).path
        require_conformance(operation.method.upper(), path, Answer(response.status_code, headers, response.content))
        assert response.status_code < 500, (response.content, case.body)

    def _token(self, document: str, operation: Operation) -> str:
        """For signing out, one that nothing else needs, as long as further ones may be made."""
        token = self.world.token(_PASSES[document])
        if (operation.method.upper(), operation.path) != SIGN_OUT:
            return token
        url, headers = f"{self.world.unit(document).origin}/v1/me/tokens", {"authorization": f"Bearer {token}"}
        made = self._session.post(url, json={"label": "spare"}, headers=headers, timeout=20).json()
        return str(made.get("token", "none"))

    def _deepen(self, case: Case[Any]) -> None:
        """Makes half of the calls be about what exists, so that they get past the first refusals."""
        # The server takes a header name with `_` for an attempt to smuggle one: not HTTP, nothing to describe.
        for name in [name for name in case.headers if "_" in name or name.lower() == "authorization"]:
            del case.headers[name]
        if not isinstance(case.body, dict):
            return
        owner = case.body.get("owner")
        if isinstance(owner, dict) and "id" in owner:
            owner["id"] = "alice"
        if case.body.get("stream") is True and self._chance.random() < 0.8:
            case.headers["accept"] = "text/event-stream"
        # A pin half right is a Control Plane that contradicts itself, which the Router calls a failed dependency.
        together = self._chance.random() < 0.5 if "agentCardDigest" in case.body else None
        for name, value in self._real().items():
            if name in case.body and (self._chance.random() < 0.5 if together is None else together):
                case.body[name] = value
        # A root of a far month is a Control Plane whose clock is wrong: the Ledger has no partition for it.
        if together and _ROOT_TASK.fullmatch(str(case.body.get("rootTaskId"))):
            case.body["rootTaskId"] = new_id("task")

    def _real(self) -> Mapping[str, str]:
        named, platform = self.world.named["alice"], self.world.platform
        installed = named["target", OWN]
        return {
            "agentId": installed,
            "targetAgentId": installed,
            "capability": CAPABILITY,
            "workspaceId": named["workspaceId", OWN],
            "version": "1.0.0",
            "agentCardVersion": "1.0.0",
            "agentReleaseId": platform.release.release_id,
            "agentCardDigest": platform.release.card_digest,
            "authorizationDigest": platform.release.card_digest,
            "endpoint": platform.agent.url,
            "endpointBindingId": named["bindingId", OWN],
            "versionConstraint": "*",
        }


def _can_be_wrong(schema: Mapping[str, Any]) -> bool:
    """A header or a part of the address is a text already: one that may be any text is never wrong."""
    return schema != {"type": "string"}


@cache
def _operations(document: str) -> list[Operation]:
    schema = schemathesis.openapi.from_path(BUNDLED / f"{document}.json")
    return [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
