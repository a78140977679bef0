"""The edge of a unit: unknown paths, wrong methods, headers, cross-origin calls, health."""

import asyncio

import pytest

from aop.base.ids import is_trace_id
from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit
from tests.support.waiting import patience

CONSOLE = (b"origin", b"https://console.example")
PREFLIGHT = (b"access-control-request-method", b"GET")


@pytest.mark.rows("OPS-06")
@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/", "/v2/agents", "/v1/status/", "/v0/status", "//v1/status", "/livez/", "/v1/statuses", "/%2e"],
)
async def test_an_unknown_path_is_not_found_without_a_token(gateway: RunningUnit, path: str) -> None:
    reply = await gateway.get(path)
    require_error(reply, 404, "NOT_FOUND", "2")
    assert reply.header("cache-control") == "no-store"


async def test_a_segment_is_decoded_exactly_once(gateway: RunningUnit) -> None:
    assert (await gateway.get("/v1/%73tatus")).status == 401
    assert (await gateway.get("/v1/%2573tatus")).status == 404
    assert (await gateway.get("/v1%2Fstatus")).status == 404


@pytest.mark.rows("OPS-07")
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_a_wrong_method_is_405_with_allow_and_an_empty_body(gateway: RunningUnit, method: str) -> None:
    reply = await gateway.ask(method, "/v1/status")
    assert (reply.status, reply.body) == (405, b"")
    assert reply.header("allow") == "GET, HEAD"
    assert is_trace_id(reply.header("x-platform-trace-id") or "")


async def test_head_is_served_wherever_get_is(gateway: RunningUnit, alice: str) -> None:
    for path, token in (("/v1/status", alice), ("/livez", None), ("/metrics", None)):
        reply = await gateway.ask("HEAD", path, token=token)
        assert (reply.status, reply.body) == (200, b"")
        assert int(reply.header("content-length") or 0) > 0


async def test_a_trace_header_of_the_caller_is_ignored(gateway: RunningUnit, alice: str) -> None:
    sent = "0123456789abcdef0123456789abcdef"
    reply = await gateway.get("/v1/status", token=alice, headers=[(b"x-platform-trace-id", sent.encode())])
    assert reply.header("x-platform-trace-id") not in {None, sent}


async def test_an_undeclared_query_parameter_is_refused(gateway: RunningUnit, alice: str) -> None:
    reply = await gateway.get("/v1/status?verbose=true", token=alice)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert reply.json["violations"] == [{"pointer": "", "rule": "query_unknown"}]


@pytest.mark.rows("AUTH-07")
async def test_an_allowed_origin_gets_a_preflight_before_authentication_and_the_exposed_headers(
    gateway: RunningUnit, alice: str
) -> None:
    preflight = await gateway.ask("OPTIONS", "/v1/status", headers=[CONSOLE, PREFLIGHT])
    assert (preflight.status, preflight.body) == (204, b"")
    assert preflight.header("access-control-allow-origin") == "https://console.example"
    assert preflight.header("access-control-allow-methods") == "GET, POST, PUT, PATCH, DELETE, OPTIONS"
    assert preflight.header("access-control-allow-headers") == "Authorization, Content-Type, Accept, If-None-Match"
    call = await gateway.get("/v1/status", token=alice, headers=[CONSOLE])
    assert call.status == 200
    assert call.header("vary") == "Origin"
    assert "x-platform-trace-id" in (call.header("access-control-expose-headers") or "")
    refused = await gateway.get("/v1/status", headers=[CONSOLE])
    assert refused.status == 401
    assert refused.header("access-control-allow-origin") == "https://console.example"


@pytest.mark.rows("AUTH-07")
@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/v1/status", b"https://other.example"),
        ("/v1/status", b"https://CONSOLE.example"),
        ("/v1/status", b"null"),
        ("/livez", CONSOLE[1]),
        ("/internal/v1/topology/watch", CONSOLE[1]),
        ("/agent/v1/invocations", CONSOLE[1]),
    ],
)
async def test_other_origins_and_other_paths_get_no_grant(gateway: RunningUnit, path: str, origin: bytes) -> None:
    for method in ("OPTIONS", "GET"):
        reply = await gateway.ask(method, path, headers=[(b"origin", origin), PREFLIGHT])
        assert reply.status in {200, 401, 404, 405}
        assert reply.header("access-control-allow-origin") is None


@pytest.mark.rows("OPS-04")
async def test_health_and_metrics_need_no_token_and_show_no_secret(gateway: RunningUnit, stores: DatabaseUrls) -> None:
    for path, body in (("/livez", b'{"status":"ok"}'), ("/readyz", b'{"status":"ok"}')):
        reply = await gateway.get(path)
        assert (reply.status, reply.body) == (200, body)
    metrics = (await gateway.get("/metrics")).body.decode()
    assert 'aop_ready{check="gateway",unit="control-plane"} 1.0' in metrics
    assert "aop_http_requests_total" in metrics
    assert "aop_http_request_seconds_bucket" in metrics
    for secret in ("127.0.0.1", "test-password", "python", "process_", "service-token", stores.control_plane):
        assert secret not in metrics


@pytest.mark.rows("OPS-05")
async def test_a_dropped_constraint_and_a_dead_database_make_the_unit_unready_but_not_dead(
    gateway: RunningUnit, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    database = stores.migration.rpartition("/")[2]
    assert (await gateway.get("/readyz")).status == 200
    await postgres.execute("ALTER TABLE gateway.access_token DROP CONSTRAINT access_token_sha256_length", database)
    await _becomes(gateway, 503)
    assert 'aop_ready{check="gateway",unit="control-plane"} 0.0' in (await gateway.get("/metrics")).body.decode()
    assert 'aop_ready{check="registry",unit="control-plane"} 1.0' in (await gateway.get("/metrics")).body.decode()
    await postgres.drop(database)
    reply = await gateway.get("/readyz")
    assert (reply.status, reply.body) == (503, b'{"status":"unavailable"}')
    assert (await gateway.get("/livez")).status == 200


async def test_a_dead_store_is_a_dependency_error_and_never_a_missing_caller(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await postgres.drop(stores.migration.rpartition("/")[2])
    require_error(await gateway.get("/v1/status", token=alice), 503, "DEPENDENCY_ERROR", "4")


async def test_the_status_of_the_platform_names_a_router_out_of_reach(gateway: RunningUnit, alice: str) -> None:
    reply = await gateway.get("/v1/status", token=alice)
    assert reply.json == {
        "controlPlane": "ok",
        "router": "unavailable",
        "topology": "unavailable",
        "routers": [{"status": "unavailable"}],
    }


async def _becomes(gateway: RunningUnit, status: int) -> None:
    async with patience():
        while (await gateway.get("/readyz")).status != status:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
