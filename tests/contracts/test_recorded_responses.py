"""The check that every answer in these tests passes through does refuse what the contract does not describe."""

import json
from typing import Any

import pytest

from aop.contracts.errors import ErrorCode, code_entries
from aop.net.http import Answer
from tests.support.conformance import NotAsDescribed, operations, require_conformance
from tests.support.every import every
from tests.support.openapi import openapi_operations
from tools.contract_bundle import surfaces

TRACE = "a" * 32
WORKSPACE = {"workspaceId": "space", "ownerId": "alice", "createdAt": "2030-01-01T00:00:00.000000Z"}
PLAIN = ((b"x-platform-trace-id", TRACE.encode()), (b"cache-control", b"no-store"))
JSON = ((b"content-type", b"application/json"),)


def answer(status: int, body: object, headers: Any = (*PLAIN, *JSON)) -> Answer:
    return Answer(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def error(code: str, status: int | None = None, headers: Any = (*PLAIN, *JSON), **members: object) -> Answer:
    entry = code_entries()[ErrorCode(code)]
    body = {"code": code, "message": entry.message, "traceId": TRACE, **members}
    return answer(status or entry.status, body, headers)


def test_every_operation_of_the_documents_is_known_once() -> None:
    described = [len(openapi_operations(name)) for name in surfaces()]
    assert len(operations()) == sum(described)
    assert "router-internal.v1 dispatchInvocation" in {operation.name for _, operation in operations()}


@pytest.mark.rows("OPS-12")
@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/v1/workspaces/space", error("NOT_FOUND")),
        (
            "GET",
            "/v1/workspaces/space?x=1",
            error("VALIDATION_ERROR", violations=[{"pointer": "/x", "rule": "query_unknown"}]),
        ),
        ("GET", "/nowhere", error("NOT_FOUND")),
        ("PUT", "/v1/workspaces", answer(405, b"", (*PLAIN, (b"allow", b"GET, POST")))),
        ("GET", "/readyz", answer(503, {"status": "unavailable"})),
        ("GET", "/made-up-for-a-test", answer(200, {"anything": 1}, ())),
    ],
)
def test_what_the_contract_describes_passes(method: str, path: str, answer: Answer) -> None:
    require_conformance(method, path, answer)


@pytest.mark.rows("OPS-12")
@every(
    ("method", "path", "answer"),
    [
        ("GET", "/v1/workspaces/space", answer(200, WORKSPACE | {"extra": 1})),
        ("GET", "/v1/workspaces/space", answer(202, WORKSPACE)),
        ("GET", "/v1/workspaces/space", answer(200, b"text", (*PLAIN, (b"content-type", b"text/plain")))),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", 410)),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", message="Gone.")),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", traceId="b" * 32)),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", invocationId="inv_" + "1" * 32)),
        ("GET", "/v1/workspaces/space", error("CHALLENGE_REUSED")),
        ("GET", "/v1/workspaces/space", error("INSTALLATION_DISABLED")),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", headers=(*PLAIN, *JSON, *PLAIN[:1]))),
        ("GET", "/v1/workspaces/space", error("NOT_FOUND", headers=(*PLAIN[:1], *JSON))),
        ("GET", "/v1/workspaces/space", error("OVERLOADED")),
        ("GET", "/nowhere", error("FORBIDDEN", 404)),
        ("PUT", "/v1/workspaces", answer(405, b"", PLAIN)),
        ("POST", "/v1/workspaces/space/invocations", error("WRONG_PROOF")),
        ("POST", "/v1/workspaces/space/invocations", error("CONFLICT")),
        ("GET", "/readyz", answer(503, {"status": "down"})),
    ],
)
def test_what_the_contract_does_not_describe_is_refused(method: str, path: str, answer: Answer) -> None:
    with pytest.raises(NotAsDescribed):
        require_conformance(method, path, answer)
