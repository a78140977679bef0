"""What a nested call asks of the Control Plane, and what may change while it is asking."""

import asyncio
from functools import partial
from typing import Any

import pytest

from tests.router.children import INSTALLED, called, held_parent, pinned
from tests.router.conftest import Lone, LoneRouter
from tests.support.agent import delegation_of, echo
from tests.support.control_plane import answering
from tests.support.errors import require_error
from tests.support.peers import Received, after
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.waiting import a_while, becomes_true, promptly


@pytest.mark.rows("TOP-04", "OPS-13")
async def test_a_child_asks_for_its_pin_every_time_and_for_its_card_once(router: LoneRouter) -> None:
    router.plane.on_resolve = pinned(router.plane)
    async with held_parent(router) as parent:
        before = len(router.plane.resolves)
        replies = [await called(router, parent) for _ in range(3)]
        asked = router.plane.resolves[before:]
        assert [request.target for request in asked] == [INSTALLED] * 3
        for reply, request in zip(replies, asked, strict=True):
            assert request.json == {
                "invocationId": reply.json["invocationId"],
                "rootTaskId": reply.json["rootTaskId"],
                "traceId": reply.json["traceId"],
                "workspaceId": "space",
                "agentId": router.plane.card["agentId"],
                "capability": "work",
            }


@pytest.mark.rows("NEST-08")
@pytest.mark.parametrize(
    "members",
    [
        {"releaseId": "rel_" + "0" * 32},
        {"agentCardDigest": "0" * 64},
        {"version": "2.0.0"},
        {"releaseId": "one"},
        {"agentCardDigest": "one"},
        {"more": "1"},
        {},
    ],
)
async def test_a_pin_that_differs_from_the_resolved_card_is_a_failed_dependency(
    router: LoneRouter, members: dict[str, str]
) -> None:
    async with held_parent(router) as parent:
        router.plane.on_resolve = pinned(router.plane, **members) if members else answering(b'{"version":"1.0.0"}')
        require_error(await called(router, parent), 503, "DEPENDENCY_ERROR", "4")
        assert await router.recorded() == 1


@pytest.mark.rows("INV-28", "TOP-04")
@pytest.mark.parametrize(
    "members", [{"targetAgentId": "acme:other"}, {"agentCardVersion": "2.0.0"}, {"capability": "other"}]
)
async def test_a_cached_card_answers_for_its_own_agent_version_and_skills_only(
    router: LoneRouter, members: dict[str, Any]
) -> None:
    assert (await router.dispatch()).status == 200
    require_error(await router.dispatch(**members), 503, "DEPENDENCY_ERROR", "4")
    assert (await router.recorded(), len(router.plane.resolves)) == (1, 2)


@pytest.mark.rows("NEST-06")
async def test_a_parent_that_ends_while_its_childs_card_is_asked_for_gets_no_child(router: LoneRouter) -> None:
    resolving, answer = asyncio.Event(), asyncio.Event()

    async def resolve(request: Received) -> None:
        if request.target == INSTALLED:
            resolving.set()
            await answer.wait()
        await pinned(router.plane)(request)

    finish = asyncio.Event()
    async with held_parent(router, after(finish, echo)) as parent:
        router.plane.on_resolve = resolve
        child = asyncio.create_task(called(router, parent))
        await resolving.wait()
        finish.set()
        invocation_id = delegation_of(parent).claims["invocationId"]
        await becomes_true(lambda: _has_ended(router, invocation_id))
        answer.set()
        require_error(await child, 409, "CONFLICT", "4")
        assert await router.recorded() == 1


async def _has_ended(router: LoneRouter, invocation_id: str) -> bool:
    return (await router.types(invocation_id))[-1] == "succeeded"


@pytest.mark.rows("TOP-03")
@pytest.mark.parametrize("nested", [False, True])
async def test_a_suspension_that_arrives_while_the_card_is_asked_for_is_obeyed(lone: Lone, nested: bool) -> None:
    async with lone() as router, held_parent(router) as parent:
        resolving, answer = asyncio.Event(), asyncio.Event()

        async def resolve(request: Received) -> None:
            if request.target != INSTALLED:
                resolving.set()
                await answer.wait()
            await pinned(router.plane)(request)

        router.plane.on_resolve = resolve
        router.plane.card["description"] = "Another one, which is in no cache."
        await router.plane.change("published")
        await a_while(0.02)
        call = asyncio.create_task(called(router, parent) if nested else router.dispatch())
        async with promptly(2):
            await resolving.wait()
        await router.plane.change("suspended")
        await becomes_true(lambda: _knows(router, "suspended"))
        answer.set()
        require_error(await call, 409, "AGENT_RELEASE_SUSPENDED", "4")
        assert await router.recorded() == 1


async def _knows(router: LoneRouter, state: str) -> bool:
    status = (await router.unit.get("/internal/v1/topology/status", token=CONTROL_PLANE_TO_ROUTER)).json
    return [item["state"] for item in status["observations"]] == [state]


@pytest.mark.rows("TOP-04")
async def test_a_change_drops_the_card_even_when_the_release_comes_back(router: LoneRouter) -> None:
    assert (await router.dispatch()).status == 200
    for state in ("suspended", "published"):
        await router.plane.change(state)
        await becomes_true(partial(_knows, router, state))
    assert [(await router.dispatch()).status for _ in range(2)] == [200, 200]
    assert len(router.plane.resolves) == 2
