"""The limits of nested calls, and child calls that fail: before acceptance without ids, after it with their own."""

import asyncpg
import pytest

from tests.support.agent import rpc_error
from tests.support.errors import require_error
from tests.support.loop import Changes, Platform, running_platform
from tests.support.nested import NESTED, asking_child, running_parent
from tests.support.peers import hold
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("NEST-07", "REAS-01")
async def test_a_root_task_holds_at_most_5000_invocations(platform: Platform, postgres: PostgresForTests) -> None:
    database = postgres.url(platform.stores.migration.rpartition("/")[2])
    async with running_parent(platform) as parent:
        connection = await asyncpg.connect(database)
        try:
            await connection.execute(
                "INSERT INTO ledger.invocation SELECT gen_random_uuid(), root_task_id, trace_id, invocation_id,"
                " opening, created_at, 'agent', target_agent_id, workspace_id, target_agent_id, agent_card_version,"
                " agent_release_id, agent_card_digest, capability, router_id, epoch, position + 1000000 + n, opening,"
                " gen_random_uuid(), created_at, deadline_at"
                " FROM ledger.invocation CROSS JOIN generate_series(1, 4998) AS n WHERE invocation_id = $1",
                parent.invocation_id.removeprefix("inv_"),
            )
        finally:
            await connection.close()
        recorded = await platform.recorded()
        assert (await parent.call()).status == 200
        reply = await parent.call()
        await platform.require_refused(reply, 403, "FORBIDDEN", recorded + 1)
        assert reply.json["reason"] == "fan_out_limit"


@pytest.mark.rows("NEST-10")
async def test_a_child_whose_first_write_fails_has_no_ids_and_meets_no_agent(postgres: PostgresForTests) -> None:
    stores = await postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    async with running_platform(stores, Changes()) as platform, running_parent(platform) as parent:
        recorded, sent = await platform.recorded(), len(platform.agent.received)
        await postgres.execute("REVOKE INSERT ON ledger.invocation FROM aop_router", database)
        reply = await parent.call()
        await platform.require_refused(reply, 503, "DEPENDENCY_ERROR", recorded)
        assert len(platform.agent.received) == sent
        await postgres.execute("GRANT INSERT ON ledger.invocation TO aop_router", database)
        assert (await parent.call()).status == 200
        await postgres.execute("REVOKE INSERT ON ledger.event FROM aop_router", database)
        reply = await parent.call()
        require_error(reply, 503, "DEPENDENCY_ERROR", "4")
        assert reply.json["rootTaskId"] == parent.claims["rootTaskId"]
        await postgres.execute("GRANT INSERT ON ledger.event TO aop_router", database)
        ended = await platform.ended(reply.json["invocationId"])
        assert ended["events"][-1]["error"] == reply.json
        assert (await platform.detail(parent.invocation_id))["invocation"]["status"] == "running"


@pytest.mark.rows("NEST-10")
async def test_a_child_that_fails_later_names_its_own_ids(platform: Platform) -> None:
    async with running_parent(platform) as parent:
        platform.agent.script(rpc_error(-32000))
        reply = await parent.call()
        detail = await platform.require_failed(reply, 502, "AGENT_EXECUTION_FAILED")
        assert detail["invocation"]["parentInvocationId"] == parent.invocation_id
        assert reply.json["rootTaskId"] == parent.claims["rootTaskId"]
        assert reply.json["traceId"] == parent.claims["traceId"]
        assert reply.header("x-platform-invocation-id") == reply.json["invocationId"]
        assert (await platform.detail(parent.invocation_id))["invocation"]["status"] == "running"


@pytest.mark.rows("NEST-05", "INV-30")
async def test_a_router_without_a_free_child_slot_says_so_to_authentic_callers_only(postgres: PostgresForTests) -> None:
    settings = {"PLATFORM_ROUTER_MAX_IN_FLIGHT_CHILDREN": "1", "PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS": "1"}
    stores = await postgres.new_platform()
    # The one root slot is taken by the parent: its child has a slot of its own, and so cannot be starved by it.
    async with running_platform(stores, Changes(router=settings)) as platform, running_parent(platform) as parent:
        assert (await parent.call()).status == 200
        platform.agent.script(hold)
        number = len(platform.agent.received) + 1
        async with asking_child(parent):
            await becomes_true(lambda: _reached(platform, number))
            recorded = await platform.recorded()
            reply = await parent.call()
            await platform.require_refused(reply, 503, "OVERLOADED", recorded)
            assert reply.header("retry-after") == "1"
            reply = await platform.router.post(NESTED, b"{", token=parent.delegation)
            await platform.require_refused(reply, 503, "OVERLOADED", recorded)
            reply = await platform.router.post(NESTED, b"{", token="nobody")
            await platform.require_refused(reply, 401, "UNAUTHENTICATED", recorded)


async def _reached(platform: Platform, number: int) -> bool:
    return len(platform.agent.received) >= number
