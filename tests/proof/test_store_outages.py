"""The store goes away under a running platform: callers get a failure, and what was accepted ends when it is back."""

import json

import pytest

from aop.local.state import DatabaseUrls
from aop.store.database import connect
from proof.fault_proxy import store_proxy
from tests.ledger.writing import breaches
from tests.support.errors import require_error
from tests.support.loop import Changes, Platform, running_platform
from tests.support.metrics import numbers
from tests.support.peers import Received
from tests.support.waiting import becomes_true, generous_ms

pytestmark = pytest.mark.second_ring


async def in_ledger(platform: Platform, invocation_id: str) -> list[tuple[str, str | None]]:
    connection = await connect(platform.stores.migration, application="test")
    try:
        await connection.execute("SET ROLE aop_owner")
        rows = await connection.fetch(
            "SELECT type, error_code FROM ledger.event WHERE invocation_id = $1", invocation_id.removeprefix("inv_")
        )
    finally:
        await connection.close()
    return [(row["type"], row["error_code"]) for row in rows]


@pytest.mark.rows("INV-25", "LED-15")
async def test_a_terminal_the_store_does_not_take_is_told_as_a_failure_and_recorded_when_it_is_back(
    stores: DatabaseUrls, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    async with store_proxy(stores.router) as proxy:
        changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": str(generous_ms(0.3))})
        through = DatabaseUrls(stores.control_plane, proxy.through(stores.router), stores.migration)
        async with running_platform(through, changes) as platform:

            async def cut_then_answer(received: Received) -> None:
                proxy.close()
                await received.answer(
                    b'{"jsonrpc":"2.0","id":"1","result":{"kind":"message","messageId":"m","role":"agent",'
                    b'"parts":[{"kind":"data","data":{}}]}}'
                )

            platform.agent.script(cut_then_answer)
            reply = await platform.invoke()
            require_error(reply, 503, "DEPENDENCY_ERROR", "4", "outcome_unknown")
            assert set(reply.json) == {"code", "message", "reason", "traceId", "invocationId", "rootTaskId"}
            invocation_id = reply.json["invocationId"]
            for path in (f"/invocations/{invocation_id}", f"/traces/{reply.json['traceId']}", "/invocations"):
                read = await platform.gateway.get(f"/v1/workspaces/space{path}", token=platform.token)
                require_error(read, 503, "DEPENDENCY_ERROR", "4", "store_unavailable")
            refused = await platform.invoke()
            require_error(refused, 503, "DEPENDENCY_ERROR", "4", "store_unavailable")  # nothing was sent to the store
            assert "invocationId" not in refused.json
            assert await in_ledger(platform, invocation_id) == []
            assert await waits_for_the_store(platform) == 1
            await becomes_true(lambda: _is_seen(platform, "not_ready", deferred=1))
            proxy.open()

            async def ended() -> bool:
                return bool(await in_ledger(platform, invocation_id))

            await becomes_true(ended)
            assert await in_ledger(platform, invocation_id) == [("failed", "DEPENDENCY_ERROR")]
            await becomes_true(lambda: _ready(platform))
            assert await waits_for_the_store(platform) == 0
            await becomes_true(lambda: _is_seen(platform, "ok"))
            assert (await platform.invoke()).status == 200
    outcome = [json.loads(line) for line in capfdbinary.readouterr().err.splitlines()]
    records = [(record["event"], record["level"]) for record in outcome if record["event"].startswith("ledger.")]
    assert records == [("ledger.unsettled", "warning"), ("ledger.settled", "info")]
    assert await breaches(stores.router) == []


@pytest.mark.rows("SAFE-12", "OPS-15")
async def test_a_first_write_that_nobody_can_decide_is_told_as_an_unknown_acceptance(stores: DatabaseUrls) -> None:
    async with store_proxy(stores.router) as proxy:
        changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": str(generous_ms(0.4))})
        through = DatabaseUrls(stores.control_plane, proxy.through(stores.router), stores.migration)
        async with running_platform(through, changes) as platform:
            assert (await platform.invoke()).status == 200
            proxy.freeze()
            reply = await platform.invoke()
            # The store does not answer, but the Router still says what it knows.
            await becomes_true(lambda: _is_seen(platform, "not_ready", unconfirmed=1))
            proxy.thaw()
            require_error(reply, 503, "DEPENDENCY_ERROR", "4", "acceptance_unknown")
            assert set(reply.json) == {"code", "message", "reason", "traceId"}
            assert len(platform.agent.calls("message/send")) == 1, "the Agent was not contacted"
            await becomes_true(lambda: _ready(platform))
            await becomes_true(lambda: _decided(platform, reply.json["traceId"]))
    assert await breaches(stores.router) == []


async def _decided(platform: Platform, trace_id: str) -> bool:
    """The Trace read tells of a failed Invocation, or of none."""
    read = await platform.gateway.get(f"/v1/workspaces/space/traces/{trace_id}", token=platform.token)
    return read.status == 404 or [item["status"] for item in read.json.get("invocations", ())] == ["failed"]


async def waits_for_the_store(platform: Platform) -> float:
    """How many terminals, as the metrics tell it."""
    names = ("aop_ledger_unconfirmed_acceptances", "aop_ledger_deferred_terminals", "aop_ledger_denied_terminals")
    unconfirmed, deferred, denied = [(await numbers(platform.router, name))[()] for name in names]
    seconds = (await numbers(platform.router, "aop_ledger_unsettled_seconds"))[()]
    assert (unconfirmed, denied, seconds > 0) == (0, 0, deferred > 0)
    return deferred


async def _is_seen(platform: Platform, status: str, **waiting: int) -> bool:
    """Whether any caller sees the Router like this, with so many facts that the store has not taken."""
    (router,) = (await platform.gateway.get("/v1/status", token=platform.token)).json["routers"]
    facts = dict(router.get("facts", {}))
    has_age = facts.pop("oldestMs", 0) > 0
    expected = {"unconfirmed": 0, "deferred": 0, "denied": 0, **waiting}
    return (router["status"], facts, has_age) == (status, expected, bool(waiting))


async def _ready(platform: Platform) -> bool:
    return (await platform.router.get("/readyz")).status == 200
