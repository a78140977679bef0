"""The OpenAPI documents are valid, and complete for the contract's endpoint table."""

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.support.openapi import openapi_operations
from tools import contracts, openapi_bundle
from tools.contract_bundle import Json, bundled, references, resolve, surfaces

# Contract 0.4, path by path.
GATEWAY = {
    ("/openapi.json", "GET"),
    ("/v1/agents", "POST GET"),
    ("/v1/agents/{agentId}", "GET"),
    ("/v1/agents/{agentId}/versions/{version}", "GET"),
    ("/v1/agents/{agentId}/versions/{version}/compatibility", "GET"),
    ("/v1/agents/{agentId}/versions/{version}/publish", "POST"),
    ("/v1/agents/{agentId}/versions/{version}/disable", "POST"),
    ("/v1/public/agents/{publicAgentId}", "GET"),
    ("/v1/providers/{providerId}/agents/{agentId}/endpoint-bindings", "POST"),
    ("/v1/providers/{providerId}/endpoint-bindings", "GET"),
    ("/v1/providers/{providerId}/endpoint-bindings/{bindingId}", "GET"),
    ("/v1/providers/{providerId}/endpoint-bindings/{bindingId}/challenges", "POST"),
    ("/v1/providers/{providerId}/endpoint-bindings/{bindingId}/challenges/{challengeId}/complete", "POST"),
    ("/v1/providers/{providerId}/agents/{agentId}/releases", "POST"),
    ("/v1/providers/{providerId}/releases", "GET"),
    ("/v1/providers/{providerId}/agents", "GET"),
    ("/v1/releases/{releaseId}/verify", "POST"),
    ("/v1/releases/{releaseId}/publish", "POST"),
    ("/v1/releases/{releaseId}/suspend", "POST"),
    ("/v1/releases/{releaseId}/revoke", "POST"),
    ("/v1/releases/{releaseId}", "GET"),
    ("/v1/releases/{releaseId}/reach", "GET"),
    ("/v1/releases/{releaseId}/observation", "GET"),
    ("/v1/status", "GET"),
    ("/v1/me", "GET"),
    ("/v1/me/agents", "GET"),
    ("/v1/me/tokens", "GET POST"),
    ("/v1/me/tokens/{tokenId}", "DELETE"),
    ("/v1/me/token", "DELETE"),
    ("/v1/me/sign-in-codes", "POST"),
    ("/v1/sign-in", "POST"),
    ("/v1/workspaces", "POST GET"),
    ("/v1/workspaces/{workspaceId}", "GET"),
    ("/v1/workspaces/{workspaceId}/installations", "POST GET"),
    ("/v1/workspaces/{workspaceId}/callers", "GET"),
    ("/v1/workspaces/{workspaceId}/callers/{principalId}", "PUT DELETE"),
    ("/v1/workspaces/{workspaceId}/installations/{installationId}", "GET PATCH DELETE"),
    ("/v1/workspaces/{workspaceId}/events", "GET"),
    ("/v1/workspaces/{workspaceId}/figures", "GET"),
    ("/v1/workspaces/{workspaceId}/invocations", "POST GET"),
    ("/v1/workspaces/{workspaceId}/invocations/{invocationId}", "GET"),
    ("/v1/workspaces/{workspaceId}/invocations/{invocationId}/bundle", "GET"),
    ("/v1/workspaces/{workspaceId}/invocations/{invocationId}/bundle/pages", "GET"),
    ("/v1/workspaces/{workspaceId}/traces", "GET"),
    ("/v1/workspaces/{workspaceId}/traces/{traceId}/bundle", "GET"),
    ("/v1/workspaces/{workspaceId}/traces/{traceId}/bundle/pages", "GET"),
    ("/v1/workspaces/{workspaceId}/traces/{traceId}", "GET"),
}
CONTROL_PLANE_INTERNAL = {
    ("/internal/v1/resolve-agent", "POST"),
    ("/internal/v1/resolve-installed-version", "POST"),
    ("/internal/v1/topology/watch", "GET"),
}
ROUTER_INTERNAL = {
    ("/internal/v1/invocations", "POST"),
    ("/internal/v1/workspaces/{workspaceId}/events", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/figures", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/invocations", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/invocations/{invocationId}", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/invocations/{invocationId}/proof", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/invocations/{invocationId}/proof/pages", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/traces", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/traces/{traceId}/proof", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/traces/{traceId}/proof/pages", "GET"),
    ("/internal/v1/workspaces/{workspaceId}/traces/{traceId}", "GET"),
    ("/internal/v1/releases/{releaseId}/reach", "GET"),
    ("/internal/v1/topology/status", "GET"),
    ("/internal/v1/status", "GET"),
}
ROUTER_AGENT = {("/agent/v1/invocations", "POST")}
HEALTH = {("/livez", "GET"), ("/readyz", "GET"), ("/metrics", "GET")}
ENDPOINTS = {
    "gateway.v1": GATEWAY | HEALTH,
    "control-plane-internal.v1": CONTROL_PLANE_INTERNAL,
    "router-internal.v1": ROUTER_INTERNAL | HEALTH,
    "router-agent.v1": ROUTER_AGENT,
}
SURFACES = surfaces()
ANONYMOUS = ("/v1/public/", "/openapi.json", "/v1/sign-in")
V3 = ("/v1/workspaces", "/internal/v1/resolve-")
V4 = ("/v1/status", "/internal/v1/", "/agent/v1/")


def test_there_is_one_document_per_surface() -> None:
    assert SURFACES.keys() == ENDPOINTS.keys()


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_a_document_holds_exactly_the_endpoints_of_the_contract(name: str) -> None:
    expected = {(method, path) for path, methods in ENDPOINTS[name] for method in methods.split()}
    assert openapi_operations(name) == expected


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_a_document_is_valid_with_every_reference_resolved(name: str) -> None:
    assert list(contracts.surface_problems(SURFACES[name])) == []


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_an_operation_names_the_envelope_of_its_surface(name: str) -> None:
    for method, path, operation in contracts.operations_of(SURFACES[name]):
        if (path, method) not in HEALTH:
            assert operation["x-envelope"] == _envelope(path), f"{method} {path}"


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_every_response_carries_the_trace_header(name: str) -> None:
    surface = bundled(SURFACES[name])
    for method, path, operation in contracts.operations_of(surface):
        for status, declared in operation["responses"].items():
            response = resolve(surface, declared["$ref"]) if "$ref" in declared else declared
            assert "x-platform-trace-id" in response["headers"], f"{method} {path} {status}"


def test_only_the_public_read_sign_in_and_health_are_open_to_anyone() -> None:
    for name, surface in SURFACES.items():
        assert surface["security"], name
        for method, path, operation in contracts.operations_of(surface):
            public = operation.get("security") == []
            assert public == ((path, method) in HEALTH or path.startswith(ANONYMOUS)), path


def test_a_reference_that_leads_nowhere_is_a_problem() -> None:
    surface = deepcopy(SURFACES["router-agent.v1"])
    surface["paths"]["/agent/v1/invocations"]["post"]["requestBody"]["content"]["application/json"]["schema"] = {
        "$ref": "../workspace/1/schema.json#/$defs/absent"
    }
    assert any("leads nowhere" in problem for problem in contracts.surface_problems(surface))


def test_a_code_of_another_envelope_is_a_problem() -> None:
    surface = deepcopy(SURFACES["router-agent.v1"])
    surface["paths"]["/agent/v1/invocations"]["post"]["x-codes"] += ["WRONG_PROOF"]
    assert any("another envelope" in problem for problem in contracts.surface_problems(surface))


def test_the_command_finds_nothing_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert contracts.main() == 0
    assert f"{len(ENDPOINTS)} OpenAPI documents are sound" in capsys.readouterr().out


def test_a_bundle_refers_to_nothing_outside_itself() -> None:
    for surface in SURFACES.values():
        assert all(reference.startswith("#/") for _, reference in references(bundled(surface)))


@pytest.mark.rows("DOOR-07")
@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_the_document_in_one_piece_is_current_valid_and_has_every_operation(name: str) -> None:
    path = openapi_bundle.BUNDLED / f"{name}.json"
    text = path.read_text("utf-8")
    assert text == _written()[path], "write it again with: ./dev openapi"
    assert not re.search(r'"\$(id|ref)": "urn:', text)
    document = json.loads(text)
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    parts = (reference.split("/") for _, reference in references(document))
    assert {(len(reference), reference[1]) for reference in parts} == {(4, "components")}
    assert _operation_ids(document) == _operation_ids(SURFACES[name])


def test_the_document_in_one_piece_has_the_rules_of_its_parts() -> None:
    """An error whose reason belongs to another code is refused by the flat schema as by the one it is made from."""
    flat = openapi_bundle.self_contained(SURFACES["gateway.v1"])
    error = {"code": "FORBIDDEN", "message": "x", "traceId": "1" * 32, "reason": "not_owner"}
    for name in ("PlatformErrorV2", "PlatformErrorV3", "PlatformErrorV4"):
        validator = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": flat["components"]})
        assert validator.is_valid(error)
        assert not validator.is_valid(error | {"reason": "skill_unknown"})
        assert not validator.is_valid(error | {"violations": [{"pointer": "", "rule": "type"}]})
        assert not validator.is_valid(error | {"more": 1})


@cache
def _written() -> dict[Path, str]:
    return openapi_bundle.texts()


def _operation_ids(surface: Json) -> list[tuple[str, str, str]]:
    return [(method, path, operation["operationId"]) for method, path, operation in contracts.operations_of(surface)]


def _envelope(path: str) -> str:
    if path.startswith(V3) and not any(part in path for part in ("/invocations", "/traces", "/figures", "/events")):
        return "3"
    return "4" if path.startswith((*V3, *V4)) else "2"
