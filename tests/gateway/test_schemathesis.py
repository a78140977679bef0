"""The Gateway against its own OpenAPI document: generated calls, right and wrong, must be answered as described."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import pytest_asyncio
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

from aop.control_plane.app import Outside, build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.publication import ALLOWED, ScriptedNames, publication_scene
from tests.support.settings import control_plane_environment
from tests.support.threads import unit_in_thread
from tools.contract_bundle import bundled, surfaces

SEED = 20_250_101
EXAMPLES = 8
DESCRIBED = bundled(surfaces()["gateway.v1"])
SCHEMA = schemathesis.openapi.from_dict(DESCRIBED)
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Calls that need the Router or an Agent, neither of which is there.
NEEDS_A_PEER = ("/invocations", "/traces", "/complete")
Known = dict[str, str]


@pytest_asyncio.fixture
async def known(stores: DatabaseUrls) -> Known:
    """Identifiers of things that exist, and the token of their owner."""
    async with publication_scene(stores) as scene:
        alice = scene.alice
        binding = await alice.new_verified_binding(scene.agent)
        release = await alice.move("publish", await alice.new_release(binding))
        pending = await alice.new_binding(scene.agent.url, version="2.0.0")
        entry = await alice.card("acme:agent")
        workspace = await alice.post("/v1/workspaces", {"workspaceId": "w1"})
        assert workspace.status == 201, workspace.body
        request = {"agentId": "acme:agent", "versionConstraint": "*", "acceptedPermissions": []}
        installed = await alice.post("/v1/workspaces/w1/installations", request)
        assert installed.status == 201, installed.body
        return {
            "token": alice.token,
            "agentId": "acme:agent",
            "version": "1.0.0",
            "providerId": alice.provider_id,
            "bindingId": pending["bindingId"],
            "challengeId": (await alice.challenge(pending))["challengeId"],
            "releaseId": release["releaseId"],
            "publicAgentId": entry["publicAgentId"],
            "workspaceId": "w1",
            "installationId": installed.json["installationId"],
            "invocationId": "inv_1",
            "traceId": "0123456789abcdef0123456789abcdef",
        }


@pytest.fixture
def origin(stores: DatabaseUrls, known: Known) -> Iterator[str]:
    environment = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=json.dumps(ALLOWED),
    )
    outside = Outside(look_up=ScriptedNames())
    with unit_in_thread(lambda: build(read_control_plane_settings(environment), outside)) as origin:
        yield origin


def test_every_generated_call_is_answered_as_described(origin: str, known: Known) -> None:
    with requests.Session() as session:
        session.trust_env = False
        for operation in OPERATIONS:
            ids = {one.name: known[one.name] for one in operation.path_parameters}
            _fuzz(operation, GenerationMode.POSITIVE, None, (origin, session, known))
            if operation.body or any(operation.iter_parameters()):
                _fuzz(operation, GenerationMode.NEGATIVE, None, (origin, session, known))
            if ids:
                _fuzz(operation, GenerationMode.POSITIVE, ids, (origin, session, known))


def _fuzz(
    operation: APIOperation[Any, Any, Any, Any],
    mode: GenerationMode,
    ids: Known | None,
    world: tuple[str, requests.Session, Known],
) -> None:
    origin, session, known = world

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=ids))
    def fuzz(case: Case[Any]) -> None:
        _own(case)
        # The server takes a header name with `_` for an attempt to smuggle one: not HTTP, nothing to describe.
        for name in [name for name in case.headers if "_" in name]:
            del case.headers[name]
        sent = {"authorization": f"Bearer {known['token']}"}
        response = case.call(base_url=origin, session=session, headers=sent, timeout=20)
        case.validate_response(response, checks=CHECKS)
        _require_described(operation, response)

    fuzz()


def _own(case: Case[Any]) -> None:
    """A generated Card becomes the caller's own, so that it is not refused for its owner alone."""
    owner = case.body.get("owner") if isinstance(case.body, dict) else None
    if isinstance(owner, dict) and "id" in owner:
        owner["id"] = "alice"


def _require_described(operation: APIOperation[Any, Any, Any, Any], response: Response) -> None:
    [trace] = response.headers["x-platform-trace-id"]
    if response.status_code >= 400 and response.content:
        error = response.json()
        assert error["traceId"] == trace
        described = DESCRIBED["paths"][operation.path][operation.method]
        assert error["code"] in described["x-codes"], (operation.label, error)
        assert response.status_code < 500 or any(part in operation.path for part in NEEDS_A_PEER), error
