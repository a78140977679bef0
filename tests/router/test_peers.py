"""Service tokens between the units, and what the Router shows of its topology."""

import pytest

from aop.contracts.documents import document
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE, control_plane_environment
from tests.support.units import RunningUnit, running

STATUS = "/internal/v1/topology/status"


@pytest.mark.rows("AUTH-06", "TOP-08")
async def test_internal_paths_know_service_tokens_only(router: RunningUnit, stores: DatabaseUrls) -> None:
    gateway_token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    require_error(await router.get(STATUS), 401, "UNAUTHENTICATED", "4")
    require_error(await router.get(STATUS, token=gateway_token), 403, "FORBIDDEN", "4")
    require_error(await router.get(STATUS, token=ROUTER_TO_CONTROL_PLANE), 403, "FORBIDDEN", "4")
    for headers in (
        [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")],
        [(b"authorization", b"Basic x")],
    ):
        require_error(await router.get(STATUS, headers=headers), 401, "UNAUTHENTICATED", "4")
    reply = await router.get(STATUS, headers=[(b"authorization", f"bEaReR {CONTROL_PLANE_TO_ROUTER}".encode())])
    assert reply.status == 200
    assert reply.header("cache-control") == "no-store"
    assert document("topology-status/1").violations(reply.json) == ()
    assert reply.json["source"]["state"] == "initializing"


@pytest.mark.rows("AUTH-06")
async def test_a_service_token_is_no_caller_of_the_gateway(router: RunningUnit, stores: DatabaseUrls) -> None:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN=router.origin
        )
    )
    async with running(lambda: build_control_plane(settings)) as gateway:
        for token in (CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE):
            require_error(await gateway.get("/v1/status", token=token), 401, "UNAUTHENTICATED", "4")
        alice = (await issue_token(stores.control_plane, "alice")).token.reveal()
        reply = await gateway.get("/v1/status", token=alice)
        assert reply.json == {"controlPlane": "ok", "router": "ok", "topology": "initializing"}


@pytest.mark.rows("OPS-04")
async def test_the_router_is_ready_and_its_metrics_show_no_secret(router: RunningUnit) -> None:
    assert (await router.get("/readyz")).status == 200
    metrics = (await router.get("/metrics")).body.decode()
    assert 'aop_ready{check="ledger",unit="router"} 1.0' in metrics
    for secret in ("router-1", "service-token", "127.0.0.1"):
        assert secret not in metrics
