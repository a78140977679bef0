"""The client's methods against the OpenAPI document: every operation, with its path, statuses and parameters."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from aop.client import Client, SyncClient
from aop.client.operation import DescribedMethod
from aop.client.operations import Operations
from tests.support.every import every
from tools.contract_bundle import surface

DOCUMENT = surface("gateway.v1")
PAGING = {"limit", "cursor"}
SAID_OTHERWISE = {"If-None-Match": "held", "from": "from_version"}
NAMED_OTHERWISE = {
    "invoke": "invoke_agent",
    "stream": "invoke_agent",
    "list_agent_versions": "read_agent_overview",
    "list_shared_releases": "read_public_agent",
}


def methods() -> Iterator[tuple[str, DescribedMethod[Any, Any]]]:
    for name, _ in inspect.getmembers(Operations):
        found = inspect.getattr_static(Operations, name)
        if isinstance(found, DescribedMethod):
            yield name, found


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def documented() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (verb.upper(), path): {
            **operation,
            "parameters": [*item.get("parameters", []), *operation.get("parameters", [])],
        }
        for path, item in DOCUMENT["paths"].items()
        if path.startswith("/v1/")
        for verb, operation in item.items()
        if verb != "parameters"
    }


def parameters_of(operation: dict[str, Any]) -> set[str]:
    components = DOCUMENT["components"]["parameters"]
    return {
        components[parameter["$ref"].rpartition("/")[2]]["name"] if "$ref" in parameter else parameter["name"]
        for parameter in operation["parameters"]
    }


def test_the_client_offers_every_operation_of_the_gateway_and_no_other() -> None:
    assert {(found.route.method, found.route.path) for _, found in methods()} == set(documented())


@every(("name", "method"), list(methods()), ids=[name for name, _ in methods()])
def test_a_method_has_the_name_the_statuses_and_the_parameters_of_its_operation(
    name: str, method: DescribedMethod[Any, Any]
) -> None:
    operation = documented()[method.route.method, method.route.path]
    assert NAMED_OTHERWISE.get(name, name) == snake(operation["operationId"])
    assert {str(status) for status in method.route.statuses} == {
        status for status in operation["responses"] if status < "400"
    }
    taken = set(inspect.signature(method.describe).parameters) - {"self", "timeout"}
    asked = {snake(SAID_OTHERWISE.get(parameter, parameter)) for parameter in parameters_of(operation) - PAGING}
    assert asked <= taken


@every("name", [name for name, _ in methods()])
def test_both_clients_have_the_method_with_its_documentation_and_its_own_arguments(name: str) -> None:
    async_method, sync_method = (getattr(made("http://127.0.0.1:1"), name) for made in (Client, SyncClient))
    assert async_method.__doc__ == sync_method.__doc__ == getattr(Operations, name).__doc__
    assert async_method.__doc__
    assert inspect.signature(async_method) == inspect.signature(sync_method)
    assert "self" not in inspect.signature(async_method).parameters
