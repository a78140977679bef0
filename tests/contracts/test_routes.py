"""What the units serve is what the OpenAPI documents describe, and the rest is listed until it is served too."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping

import pytest

from aop.control_plane.app import build as build_control_plane
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from aop.router.app import build as build_router
from aop.router.settings import read_router_settings
from aop.serving.routing import Route
from aop.serving.unit import Unit
from tests.support.openapi import openapi_operations
from tests.support.settings import control_plane_environment, router_environment
from tools.contract_bundle import surfaces

Operations = set[tuple[str, str]]
DOCUMENTS = {
    "control plane": ("gateway.v1", "control-plane-internal.v1"),
    "router": ("router-internal.v1", "router-agent.v1"),
}
# To shrink until nothing is left.
STILL_TO_COME: Mapping[str, Operations] = {
    "control plane": {
        ("POST", "/v1/workspaces/{workspaceId}/invocations"),
    },
    "router": {
        ("POST", "/internal/v1/invocations"),
    },
}


async def control_plane(stores: DatabaseUrls) -> Unit:
    settings = control_plane_environment(PLATFORM_DATABASE_URL=stores.control_plane)
    return await build_control_plane(read_control_plane_settings(settings))


async def router(stores: DatabaseUrls) -> Unit:
    settings = router_environment(PLATFORM_ROUTER_DATABASE_URL=stores.router)
    return await build_router(read_router_settings(settings))


UNITS: Mapping[str, Callable[[DatabaseUrls], Awaitable[Unit]]] = {"control plane": control_plane, "router": router}


async def routes_of(name: str, stores: DatabaseUrls) -> tuple[Route, ...]:
    unit = await UNITS[name](stores)
    await unit.close()
    return unit.application.routes


def operations(routes: Iterable[Route]) -> Operations:
    return {(route.method, re.sub(r":(\w+)", r"{\1}", route.path)) for route in routes}


@pytest.mark.parametrize("name", sorted(UNITS))
async def test_every_route_is_described_and_every_described_one_is_served_or_listed_as_to_come(
    stores: DatabaseUrls, name: str
) -> None:
    routes = await routes_of(name, stores)
    served = operations(routes)
    described = set().union(*(openapi_operations(document) for document in DOCUMENTS[name]))
    assert len(served) == len(routes), "a route is served twice"
    assert served - described == set()
    assert described - served == STILL_TO_COME[name]


@pytest.mark.parametrize("name", sorted(UNITS))
async def test_a_route_answers_in_the_envelope_and_takes_the_parameters_its_description_names(
    stores: DatabaseUrls, name: str
) -> None:
    for route in await routes_of(name, stores):
        [(method, path)] = operations([route])
        item = next(found for found in _items(name, path) if method.lower() in found)
        described = item[method.lower()]
        if "x-envelope" in described:
            assert described["x-envelope"] == route.envelope, (method, path)
        parameters = [*item.get("parameters", ()), *described.get("parameters", ())]
        named = {parameter["name"] for parameter in parameters if parameter.get("in") == "query"}
        named |= {parameter["$ref"].rpartition("/")[2].lower() for parameter in parameters if "$ref" in parameter}
        taken = {parameter.lower() for parameter in route.query or ()}
        assert taken == {parameter.lower() for parameter in named if parameter.lower() not in _in_path(path)}, path


def _items(name: str, path: str) -> Iterable[Mapping[str, Mapping[str, object]]]:
    documents = (surfaces()[document] for document in DOCUMENTS[name])
    return (document["paths"][path] for document in documents if path in document["paths"])


def _in_path(path: str) -> set[str]:
    return {parameter.lower() for parameter in re.findall(r"\{(\w+)\}", path)}
