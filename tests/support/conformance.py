"""Checks an answer of a unit against its OpenAPI document: status, code, envelope, body, and the headers all bear."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema_rs

from aop.base import json
from aop.contracts.documents import compiled, document
from aop.contracts.errors import ErrorCode, code_entries
from aop.net.http import Answer
from tools.contract_bundle import Json, bundled, resolve, surfaces

_METHODS = frozenset({"get", "put", "post", "patch", "delete"})
_PROTOCOLS = ("/a2a/", "/mcp/", "/played/")
"""What the door serves there, other specifications describe."""


class NotAsDescribed(AssertionError):
    """The answer breaks the contract."""


@dataclass(frozen=True)
class Operation:
    name: str
    pattern: re.Pattern[str]
    envelope: str | None
    codes: frozenset[str]
    responses: Mapping[str, Json]


def require_conformance(method: str, path: str, answer: Answer) -> None:
    """Nothing is said of a path no document knows, unless it is answered as an unknown one."""
    bare = path.partition("?")[0]
    known = [(verb, found) for verb, found in operations() if found.pattern.fullmatch(bare)]
    wanted = "GET" if method == "HEAD" else method
    described = next((found for verb, found in known if verb == wanted), None)
    if method == "OPTIONS" or bare.startswith(_PROTOCOLS) or (not known and answer.status != 404):
        return
    is_card = bare.startswith("/v1/agents/") and "/versions/" in bare
    _require_headers(answer, cacheable=is_card or bare == "/openapi.json")
    if answer.status == 405:
        _require(answer.body == b"" and answer.header(b"allow") is not None, "405 without Allow, or with a body")
    elif answer.status >= 400 and answer.body and not bare.startswith(("/readyz", "/livez", "/metrics")):
        _require_error(answer, described)
    elif described is not None and method != "HEAD":
        _require_described(answer, described)


@cache
def operations() -> tuple[tuple[str, Operation], ...]:
    found = []
    for surface_name, surface in surfaces().items():
        joined = bundled(surface)
        for path, item in joined["paths"].items():
            pattern = re.compile("/".join("[^/]+" if part[:1] == "{" else re.escape(part) for part in path.split("/")))
            for verb in _METHODS & item.keys():
                described = item[verb]
                name = f"{surface_name} {described['operationId']}"  # two surfaces may have an operation of one name
                codes = frozenset(described.get("x-codes", ()))
                responses = {status: _whole(joined, one) for status, one in described["responses"].items()}
                operation = Operation(name, pattern, described.get("x-envelope"), codes, responses)
                _SURFACE_OF[name] = joined
                found.append((verb.upper(), operation))
    return tuple(found)


_SURFACE_OF: dict[str, Json] = {}


def _whole(joined: Json, response: Json) -> Json:
    return resolve(joined, response["$ref"]) if "$ref" in response else response


def _require_headers(answer: Answer, *, cacheable: bool) -> None:
    _require(len(answer.headers_named(b"x-platform-trace-id")) == 1, "not exactly one trace")
    if not (cacheable and answer.status in {200, 304}):
        _require(answer.headers_named(b"cache-control") == [b"no-store"], "may be stored")


def _require_error(answer: Answer, described: Operation | None) -> None:
    error: Any = json.parse(answer.body, json.UNIT_DEPTH)
    envelope = "2" if described is None else described.envelope
    _require(document(f"platform-error/{envelope}").is_valid(error), "not the envelope of its surface")
    entry = code_entries()[ErrorCode(error["code"])]
    _require((entry.status, entry.message) == (answer.status, error["message"]), "another status or message")
    _require(answer.headers_named(b"x-platform-trace-id") == [error["traceId"].encode()], "two traces")
    _require(answer.headers_named(b"content-type") == [b"application/json"], "not JSON")
    retry = answer.headers_named(b"retry-after")
    _require(retry == ([b"1"] if error["code"] == "OVERLOADED" else []), "Retry-After belongs to OVERLOADED")
    if described is None:
        _require(error["code"] == "NOT_FOUND", "an unknown path")
    else:
        _require(error["code"] in described.codes, f"{error['code']} is not listed for {described.name}")


def _require_described(answer: Answer, described: Operation) -> None:
    response = described.responses.get(str(answer.status))
    _require(response is not None, f"{answer.status} is not described for {described.name}")
    media_types = answer.headers_named(b"content-type")
    content = (response or {}).get("content", {})
    if not content:
        _require(answer.body == b"", "a body where none is described")
        return
    _require(len(media_types) == 1, "not one media type")
    media_type = media_types[0].decode() if media_types else ""
    kinds = {kind.partition(";")[0] for kind in content}
    _require(media_type.partition(";")[0] in kinds, f"{media_type} is not described for {described.name}")
    if media_type == "application/json":
        value = json.parse(answer.body, json.UNIT_DEPTH)
        _require(_validator(described.name, str(answer.status)).is_valid(value), f"the body of {described.name}")


@cache
def _validator(name: str, status: str) -> jsonschema_rs.Draft202012Validator:
    joined = _SURFACE_OF[name]
    described = next(found for _, found in operations() if found.name == name)
    schema = described.responses[status]["content"]["application/json"]["schema"]
    return compiled({"allOf": [schema], "components": joined["components"]})


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotAsDescribed(otherwise)
