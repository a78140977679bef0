"""Several Control Planes and Routers on one store: one platform to its callers; a dead replica is its own loss."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aop.contracts.publication import Release, ReleaseState
from proof.world import Plan, World, world
from tests.ledger.writing import breaches
from tests.support.agent import a_message, a_task, data, echo, invocation_of
from tests.support.cards import Card, some_limits
from tests.support.loop import STATUS, Platform
from tests.support.nested import Parent, asking_child, running_parent
from tests.support.peers import after, hold
from tests.support.postgres import PostgresForTests
from tests.support.replicas import dispatch_body
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.units import Reply, RunningUnit
from tests.support.waiting import becomes_true, generous, generous_ms

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]
EPOCHS = (
    "SELECT router_id, count(*) AS opened, count(closed_at) AS closed FROM ledger.epoch"
    " LEFT JOIN ledger.epoch_closed USING (router_id, epoch) GROUP BY 1 ORDER BY 1"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def replicas(postgres: PostgresForTests, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    urls = await postgres.new_platform()
    database = urls.migration.rpartition("/")[2]
    async with world(urls, postgres.url(database), tmp_path_factory.mktemp("replicas"), Plan(pairs=2)) as running:
        yield running
        assert await breaches(urls.router) == []
    await postgres.drop(database)


async def status_of(platform: Platform, invocation_id: str) -> str:
    return str((await platform.detail(invocation_id))["invocation"]["status"])


async def installed(replicas: World, **members: Any) -> tuple[Card, Release]:
    """Both Routers know it as published."""
    card, release, _ = await replicas.first.installed(**members)
    await replicas.second.sees(release, "published")
    return card, release


async def dispatched(router: RunningUnit, card: Card, release: Release) -> Reply:
    return await router.post("/internal/v1/invocations", dispatch_body(card, release), token=CONTROL_PLANE_TO_ROUTER)


def moment(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record["updatedAt"])


async def test_each_gateway_reads_what_ran_through_the_other(replicas: World) -> None:
    first, second = replicas.first, replicas.second
    for here, there in ((first, second), (second, first)):
        reply = await here.invoke(b'{"a":1}')
        assert reply.json["result"] == {"a": 1}
        assert await there.detail(reply.json["invocationId"]) == await here.detail(reply.json["invocationId"])
        trace = f"/traces/{reply.json['traceId']}"
        assert await there.read(trace) == await here.read(trace)
    assert await first.read("/invocations") == await second.read("/invocations")


@pytest.mark.rows("NEST-14")
async def test_descendants_on_other_routers_are_canceled_within_two_seconds(replicas: World) -> None:
    """The parent runs on the first Router, its child on the second, the grandchild on the first again."""
    first, second, agent = replicas.first, replicas.second, replicas.first.agent
    number, cancels = len(agent.calls("tasks/get")), len(agent.calls("tasks/cancel"))
    async with AsyncExitStack() as stay:
        async with running_parent(first) as parent:
            agent.script(hold)
            sent = len(agent.calls("message/send"))
            child_call = await stay.enter_async_context(asking_child(replace(parent, router=second.router)))
            child = Parent(await agent.arrival("message/send", sent + 1), first.router, parent.target, parent.caller)
            agent.script(a_task("working"))
            grandchild_call = await stay.enter_async_context(asking_child(child))
            grandchild = await agent.arrival("tasks/get", number + 1)
        replies = await asyncio.gather(child_call, grandchild_call)
    assert [(reply.status, reply.code) for reply in replies] == [(409, "CANCELED")] * 2
    records = (await second.read(f"/traces/{parent.claims['traceId']}"))["invocations"]
    expected = [parent.invocation_id, child.invocation_id, invocation_of(grandchild)]
    assert [record["invocationId"] for record in records] == expected
    assert {record["status"] for record in records} == {"canceled"}
    for above, below in pairwise(records):
        assert (moment(below) - moment(above)).total_seconds() < generous(2)
    cancel = await agent.arrival("tasks/cancel", cancels + 1)
    assert invocation_of(cancel) == invocation_of(grandchild)
    assert agent.methods(invocation_of(grandchild)).count("tasks/cancel") == 1


@pytest.mark.rows("NEST-13", "NEST-14")
async def test_a_parent_that_times_out_elsewhere_ends_its_child_and_one_that_succeeds_does_not(
    replicas: World,
) -> None:
    first, second, agent = replicas.first, replicas.second, replicas.first.agent
    brief, _ = await installed(replicas, limits=some_limits(timeoutMs=generous_ms(0.2)))
    finish = asyncio.Event()
    async with (
        running_parent(first, after(finish, a_message(data(1)))) as succeeding,
        running_parent(first, agentId=brief["agentId"]) as timing_out,
    ):
        agent.script(hold)
        agent.script(hold)
        sent = len(agent.calls("message/send"))
        async with asking_child(replace(timing_out, router=second.router)) as ended:
            canceled = await agent.arrival("message/send", sent + 1)
            async with asking_child(replace(succeeding, router=second.router)) as staying:
                kept = await agent.arrival("message/send", sent + 2)
                finish.set()
                assert (await ended).code == "CANCELED"
                record = (await second.detail(invocation_of(canceled)))["invocation"]
                above = (await first.detail(timing_out.invocation_id))["invocation"]
                assert above["status"] == "timed_out"
                assert (moment(record) - moment(above)).total_seconds() < generous(2)
                assert await status_of(first, succeeding.invocation_id) == "succeeded"
                assert (await status_of(first, invocation_of(kept)), staying.done()) == ("running", False)


@pytest.mark.rows("TOP-02", "TOP-03", "TOP-04")
async def test_a_suspension_through_one_gateway_is_obeyed_everywhere_and_no_cache_serves_it(replicas: World) -> None:
    card, release = await installed(replicas)
    sides = (replicas.first, replicas.second)
    for side in sides:
        assert [(await side.invoke(agentId=card["agentId"])).status for _ in range(2)] == [200, 200]
    async with running_parent(replicas.second) as parent:
        path = f"/v1/releases/{release.release_id}/suspend"
        assert (await replicas.first.gateway.post(path, token=replicas.first.token)).status == 200
        committed, sent = time.monotonic(), len(replicas.first.agent.received)
        for reply in (
            *(await asyncio.gather(*(side.invoke(agentId=card["agentId"]) for side in sides))),
            await parent.call(card["agentId"]),
            await replace(parent, router=replicas.first.router).call(card["agentId"]),
        ):
            assert (reply.status, reply.code) == (409, "AGENT_RELEASE_SUSPENDED")
        assert len(replicas.first.agent.received) == sent
        # Calls that were authorized just before the suspension.
        for side in sides:
            await side.sees(release, "suspended")
            assert time.monotonic() - committed < generous(2)
            for _ in range(3):
                reply = await dispatched(side.router, card, release)
                assert (reply.status, reply.code) == (409, "AGENT_RELEASE_SUSPENDED")
        assert len(replicas.first.agent.received) == sent


@pytest.mark.rows("NEST-02", "NEST-03")
async def test_many_calls_over_both_routers_keep_every_lineage_whole(replicas: World) -> None:
    first, second, agent = replicas.first, replicas.second, replicas.first.agent
    async with running_parent(first) as one, running_parent(second) as other:
        agent.usual = (echo,)
        calls = [
            replace(parent, router=side.router).call(content=b'{"n":%d}' % number)
            for number in range(10)
            for parent in (one, other)
            for side in (first, second)
        ]
        replies = await asyncio.gather(*calls)
        assert [reply.json["result"]["n"] for reply in replies] == [number for number in range(10) for _ in range(4)]
        for parent, side in ((one, second), (other, first)):
            records = (await side.read(f"/traces/{parent.claims['traceId']}"))["invocations"]
            assert (len(records), records[0]["invocationId"]) == (21, parent.invocation_id)
            assert {record.get("parentInvocationId") for record in records[1:]} == {parent.invocation_id}
            order = [(record["createdAt"], record["invocationId"]) for record in records[1:]]
            assert order == sorted(order)
        secrets = (one.delegation, one.delegation.rpartition(".")[2], one.request.values("authorization")[0][7:])
        assert [secret for secret in secrets if secret in replicas.said] == []


async def _epochs(platform: Platform) -> dict[str, tuple[int, int]]:
    connection = await asyncpg.connect(platform.stores.router)
    try:
        return {row["router_id"]: (row["opened"], row["closed"]) for row in await connection.fetch(EPOCHS)}
    finally:
        await connection.close()


async def test_a_killed_router_is_its_own_loss_and_its_return_closes_its_own_epoch_only(replicas: World) -> None:
    first, second, agent = replicas.first, replicas.second, replicas.first.agent
    finish = asyncio.Event()
    async with running_parent(first) as lost, running_parent(second, after(finish, echo)) as kept:
        sent = len(agent.calls("message/send"))
        agent.script(after(finish, echo))
        agent.script(hold)
        async with AsyncExitStack() as calls:
            orphan = await calls.enter_async_context(asking_child(replace(lost, router=second.router)))
            orphan_id = invocation_of(await agent.arrival("message/send", sent + 1))
            lost_child = await calls.enter_async_context(asking_child(replace(kept, router=first.router)))
            lost_child_id = invocation_of(await agent.arrival("message/send", sent + 2))
            await replicas.routers[0].kill()
            assert await lost.caller == 503
            await asyncio.wait({lost_child})
            assert (await second.invoke(b'{"still":1}')).json["result"] == {"still": 1}
            assert await status_of(second, lost.invocation_id) == "running"
            assert (await first.gateway.get("/v1/status", token=first.token)).json["router"] == "unavailable"
            reply = await first.invoke()
            assert (reply.status, reply.code, reply.json["reason"]) == (503, "DEPENDENCY_ERROR", "router_unreachable")
            assert set(reply.json) == {"code", "message", "reason", "traceId"}
            before = await _epochs(second)
            await replicas.routers[0].start()
            await replicas.routers[0].ready()
            assert await _epochs(second) == {"router-1": (2, 1), "router-2": (1, 0)}
            assert before == {"router-1": (1, 0), "router-2": (1, 0)}
            for invocation_id in (lost.invocation_id, lost_child_id):
                record = (await second.detail(invocation_id))["invocation"]
                assert (record["status"], record["errorCode"]) == ("failed", "DEPENDENCY_ERROR")
            # What ran on the other Router never noticed: not the root, and not the child of a root that failed.
            for invocation_id in (kept.invocation_id, orphan_id):
                assert await status_of(second, invocation_id) == "running"
            finish.set()
            assert ((await orphan).status, await kept.caller) == (200, 200)
            assert await status_of(first, orphan_id) == "succeeded"
            assert (await first.invoke()).status == 200


@pytest.mark.rows("TOP-05", "TOP-06")
async def test_a_killed_control_plane_is_its_own_loss_and_its_router_catches_up(replicas: World) -> None:
    first, second = replicas.first, replicas.second
    (card, release), (known, suspended) = await installed(replicas), await installed(replicas)
    await first.move(suspended, ReleaseState.SUSPENDED)
    for side in (first, second):
        await side.sees(suspended, "suspended")
        assert (await dispatched(side.router, card, release)).status == 200
    await replicas.control_planes[0].kill()
    await becomes_true(lambda: _source_is(first.router, "lost"))
    await becomes_true(lambda: _is_unready(first.router))
    reply = await dispatched(first.router, card, release)  # the Card was cached, but nobody vouches for it now
    assert (reply.status, reply.code) == (503, "DEPENDENCY_ERROR")
    reply = await dispatched(first.router, known, suspended)
    assert (reply.status, reply.code) == (409, "AGENT_RELEASE_SUSPENDED")
    assert (await second.invoke(agentId=card["agentId"])).status == 200
    path = f"/v1/releases/{release.release_id}/suspend"
    assert (await second.gateway.post(path, token=second.token)).status == 200
    await second.sees(release, "suspended")
    await replicas.control_planes[0].start()
    await replicas.control_planes[0].ready()
    await replicas.routers[0].ready(10)
    reply = await dispatched(first.router, card, release)
    assert (reply.status, reply.code) == (409, "AGENT_RELEASE_SUSPENDED")
    assert (await first.invoke()).status == 200


async def _source_is(router: RunningUnit, state: str) -> bool:
    return bool((await router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["source"]["state"] == state)


async def _is_unready(router: RunningUnit) -> bool:
    return (await router.get("/readyz")).status == 503
