"""What the units serve is exactly what the OpenAPI documents describe."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping

import pytest

from aop.control_plane.app import build as build_control_plane
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from aop.router.app import build as build_router
from aop.router.settings import read_router_settings
from aop.serving.edge.application import Application
from aop.serving.edge.routing import Route
from aop.serving.unit.unit import Unit
from tests.support.openapi import openapi_operations
from tests.support.settings import control_plane_environment, router_environment
from tools.contract_bundle import Json, resolve, surfaces

SURFACES = surfaces()
Operations = set[tuple[str, str]]
DOCUMENTS = {
    "control plane": ("gateway.v1", "control-plane-internal.v1"),
    "router": ("router-internal.v1", "router-agent.v1"),
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
    assert isinstance(unit.application, Application)
    return unit.application.routes


def operations(routes: Iterable[Route]) -> Operations:
    return {(route.method, re.sub(r":(\w+)", r"{\1}", route.path)) for route in routes}


@pytest.mark.parametrize("name", sorted(UNITS))
async def test_every_route_is_described_and_everything_described_is_served(stores: DatabaseUrls, name: str) -> None:
    routes = await routes_of(name, stores)
    served = operations(routes)
    described = set().union(*(openapi_operations(document) for document in DOCUMENTS[name]))
    assert len(served) == len(routes), "a route is served twice"
    assert served == described


@pytest.mark.parametrize("name", sorted(UNITS))
async def test_a_route_answers_in_the_envelope_and_takes_the_parameters_its_description_names(
    stores: DatabaseUrls, name: str
) -> None:
    for route in await routes_of(name, stores):
        [(method, path)] = operations([route])
        surface, item = _described(name, path, method)
        operation = item[method.lower()]
        if "x-envelope" in operation:
            assert operation["x-envelope"] == route.envelope, (method, path)
        listed = [*item.get("parameters", ()), *operation.get("parameters", ())]
        parameters = [resolve(surface, one["$ref"]) if "$ref" in one else one for one in listed]
        assert {one["name"] for one in parameters if one["in"] == "query"} == set(route.query or ()), (method, path)
        assert {one["name"] for one in parameters if one["in"] == "path"} == set(re.findall(r":(\w+)", route.path))


def _described(name: str, path: str, method: str) -> tuple[Json, Json]:
    """The document that describes the operation, and its path item."""
    for document in DOCUMENTS[name]:
        item = SURFACES[document]["paths"].get(path, {})
        if method.lower() in item:
            return SURFACES[document], item
    raise AssertionError((method, path))
