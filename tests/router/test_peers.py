"""Service tokens between the units, and what the Router shows of its topology and health."""

import pytest

from aop.contracts.documents import document
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.ledger.write.epochs import open_epoch
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.router.conftest import Lone, LoneRouter
from tests.support.errors import require_error
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE, control_plane_environment
from tests.support.units import running
from tests.support.waiting import becomes_true, generous, patience

STATUS = "/internal/v1/topology/status"
OWN_STATUS = "/internal/v1/status"
PATHS = (
    ("GET", STATUS),
    ("GET", OWN_STATUS),
    ("POST", "/internal/v1/invocations"),
    ("GET", "/internal/v1/workspaces/space/invocations"),
    ("GET", "/internal/v1/workspaces/space/traces/x"),
)


@pytest.mark.rows("AUTH-06", "TOP-08")
async def test_internal_paths_know_service_tokens_only(router: LoneRouter, stores: DatabaseUrls) -> None:
    gateway_token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    for method, path in PATHS:
        require_error(await router.unit.ask(method, path), 401, "UNAUTHENTICATED", "4")
        for token in (gateway_token, ROUTER_TO_CONTROL_PLANE):
            require_error(await router.unit.ask(method, path, token=token), 403, "FORBIDDEN", "4")
    for headers in (
        [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")],
        [(b"authorization", b"Basic x")],
    ):
        require_error(await router.unit.get(STATUS, headers=headers), 401, "UNAUTHENTICATED", "4")
    reply = await router.unit.get(STATUS, headers=[(b"authorization", f"bEaReR {CONTROL_PLANE_TO_ROUTER}".encode())])
    assert reply.status == 200
    assert reply.header("cache-control") == "no-store"
    assert document("topology-status/1").violations(reply.json) == ()
    assert reply.json["source"]["state"] == "live"


@pytest.mark.rows("AUTH-06")
async def test_a_service_token_is_no_caller_of_the_gateway(router: LoneRouter, stores: DatabaseUrls) -> None:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN=router.unit.origin
        )
    )
    async with running(lambda: build_control_plane(settings)) as gateway:
        for token in (CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE):
            require_error(await gateway.get("/v1/status", token=token), 401, "UNAUTHENTICATED", "4")
        alice = (await issue_token(stores.control_plane, "alice")).token.reveal()
        reply = await gateway.get("/v1/status", token=alice)
        units = {name: reply.json[name] for name in ("controlPlane", "router", "topology")}
        assert units == {"controlPlane": "ok", "router": "ok", "topology": "live"}
        assert document("health/1#platformStatus").violations(reply.json) == ()
        said = (await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
        assert [shown["instanceId"] for shown in reply.json["routers"]] == [said["instanceId"]]
        assert "router-1" not in reply.body.decode()
        assert router.unit.origin not in reply.body.decode()


async def test_a_router_says_how_its_watch_its_schema_work_and_its_ledger_are(router: LoneRouter) -> None:
    async def numbers_events() -> bool:
        reply = await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)
        assert (reply.status, reply.header("cache-control")) == (200, "no-store")
        assert document("router-status/1").violations(reply.json) == ()
        return "sequence" in reply.json

    await becomes_true(numbers_events)
    said = (await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
    assert (said["routerId"], said["status"]) == ("router-1", "ok")
    assert said["topology"]["state"] == "live"
    assert said["topology"]["since"].startswith("20")
    assert 0 <= said["topology"]["ageMs"] < generous(15_000)
    assert said["schemaWork"] == {"processes": 2, "running": 0, "waiting": 0}
    assert said["facts"] == {"unconfirmed": 0, "deferred": 0, "denied": 0}
    assert 0 <= said["sequence"]["lagMs"] < generous(10_000)


@pytest.mark.rows("OPS-04")
async def test_the_router_is_ready_and_its_metrics_show_no_secret(router: LoneRouter) -> None:
    assert (await router.unit.get("/readyz")).status == 200
    metrics = (await router.unit.get("/metrics")).body.decode()
    for check in ("ledger", "epoch", "ledger_settled", "topology", "loops"):
        assert f'aop_ready{{check="{check}",unit="router"}} 1.0' in metrics
    for secret in ("router-1", "service-token", "127.0.0.1"):
        assert secret not in metrics


@pytest.mark.parametrize("probed", [True, False])
async def test_a_router_whose_id_another_process_took_is_not_ready_and_ends_before_a_call_meets_it(
    router: LoneRouter, probed: bool
) -> None:
    """Seen by the next probe, or by the Router itself when nobody probes it."""
    assert (await router.unit.get("/readyz")).status == 200
    connection = await connect(router.stores.router, application="test")
    await open_epoch(connection, "router-1")
    await connection.close()

    async def not_ready() -> bool:
        return (await router.unit.get("/readyz")).status == 503

    if probed:
        await becomes_true(not_ready)
    async with patience():
        await router.unit.unit.must_end.wait()
    assert router.unit.unit.ending.startswith("PLATFORM_ROUTER_ID: another Router process")
    await becomes_true(not_ready)


@pytest.mark.rows("TOP-05")
async def test_without_a_watch_the_router_is_not_ready_but_works(lone: Lone) -> None:
    async with lone(watched=False) as router:
        assert (await router.unit.get("/readyz")).status == 503
        status = (await router.unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
        assert (status["source"]["state"], status["observations"]) == ("initializing", [])
        said = (await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
        assert (said["status"], said["topology"]["state"], "ageMs" in said["topology"]) == (
            "not_ready",
            "initializing",
            False,
        )
        for count in (1, 2):
            assert (await router.dispatch()).status == 200
            assert len(router.plane.resolves) == count


@pytest.mark.rows("HA-02")
async def test_a_router_whose_control_plane_says_good_bye_stays_ready_until_it_has_the_next_one(
    router: LoneRouter,
) -> None:
    """All Routers behind a balancer lose the Control Plane that is replaced, in the same moment."""
    (watch,) = router.plane.watches
    watch.writer.write(b"0\r\n\r\n")

    async def lost() -> bool:
        return str((await router.unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["source"]["state"]) == "lost"

    await becomes_true(lost)
    assert (await router.unit.get("/readyz")).status == 200
    assert (await router.dispatch()).status == 200


@pytest.mark.rows("TOP-05")
async def test_a_cut_watch_is_lost_and_every_call_resolves_anew(router: LoneRouter) -> None:
    assert (await router.dispatch()).status == 200
    live_since = (await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["topology"]["since"]
    router.plane.watched = False
    for watch in tuple(router.plane.watches):
        watch.writer.close()

    async def lost() -> bool:
        state = (await router.unit.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["source"]["state"]
        return bool(state == "lost") and (await router.unit.get("/readyz")).status == 503

    await becomes_true(lost)
    said = (await router.unit.get(OWN_STATUS, token=CONTROL_PLANE_TO_ROUTER)).json
    assert (said["status"], said["topology"]["state"]) == ("not_ready", "lost")
    assert said["topology"]["since"] > live_since, "since it was lost, not since it began"
    for count in (2, 3):
        assert (await router.dispatch()).status == 200
        assert len(router.plane.resolves) == count
    await router.plane.change("suspended")
    router.plane.watched = True
    await becomes_true(router.is_live)
    require_error(await router.dispatch(), 409, "AGENT_RELEASE_SUSPENDED", "4")
