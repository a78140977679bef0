"""What depends on a Release, for its owner: counts only, and never 0 because somebody could not be asked."""

from typing import Any

from aop.base.ids import new_id
from aop.contracts.documents import document
from aop.contracts.publication import ReleaseState
from aop.control_plane.gateway.tokens import issue_token
from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.loop import Platform, gateway_alone, running_platform
from tests.support.nested import running_parent
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.units import Reply
from tests.support.waiting import becomes_true


async def read_of(platform: Platform, name: str, release_id: str | None = None, token: str | None = None) -> Reply:
    path = f"/v1/releases/{release_id or platform.release.release_id}/{name}"
    return await platform.gateway.get(path, token=token or platform.token)


async def reach(platform: Platform) -> Any:
    reply = await read_of(platform, "reach")
    assert reply.status == 200, reply.body
    assert document("release-reach/1").violations(reply.json) == ()
    return reply.json


async def observed(platform: Platform) -> Any:
    reply = await read_of(platform, "observation")
    assert reply.status == 200, reply.body
    assert document("release-observation/1").violations(reply.json) == ()
    return reply.json


async def test_an_owner_sees_what_depends_on_a_release(stores: DatabaseUrls) -> None:
    async with running_platform(stores) as platform:
        agent_id, owner = platform.card["agentId"], platform.owner
        none = {"callsLastHour": 0, "callsLastDay": 0, "running": 0}
        one = {"workspaces": 1, "enabledInstallations": 1, "disabledInstallations": 0}
        assert await reach(platform) == {"releaseId": platform.release.release_id, **one, **none}
        for number in range(3):
            await owner.workspace(f"more-{number}")
            made = await owner.install(agent_id, accepted=[], space=f"more-{number}")
            if number:
                await owner.set_status(made["installationId"], "disabled", f"more-{number}")
            if number == 2:
                await owner.uninstall(made["installationId"], "more-2")
        await platform.invoke()
        async with running_parent(platform) as parent:
            assert (await parent.call()).status == 200
            now = await reach(platform)
        assert (now["workspaces"], now["enabledInstallations"], now["disabledInstallations"]) == (3, 2, 1)
        assert (now["callsLastHour"], now["callsLastDay"], now["running"]) == (3, 3, 1)
        await platform.move(platform.release, ReleaseState.SUSPENDED)  # its owner sees it in every state

        async def has_ended() -> bool:
            return bool((await reach(platform))["running"] == 0)

        await becomes_true(has_ended)
        bob = (await issue_token(stores.control_plane, "bob")).token.reveal()
        for name in ("reach", "observation"):
            require_error(await read_of(platform, name, token=bob), 403, "FORBIDDEN", "2", "not_owner")
            require_error(await read_of(platform, name, new_id("rel")), 404, "NOT_FOUND", "2", "release_unknown")
        path = "/internal/v1/releases/rel_1/reach"
        reply = await platform.router.get(path, token=CONTROL_PLANE_TO_ROUTER)
        require_error(reply, 400, "VALIDATION_ERROR", "4")


async def test_an_owner_sees_when_the_router_has_learned_of_a_state(stores: DatabaseUrls) -> None:
    async with running_platform(stores) as platform:
        before = await observed(platform)
        assert (before["source"], before["state"]) == ("live", "published")
        path = f"/v1/releases/{platform.release.release_id}/suspend"
        assert (await platform.gateway.post(path, None, token=platform.token)).status == 200

        async def has_changed() -> bool:
            return bool((await observed(platform))["state"] == "suspended")

        await becomes_true(has_changed)
        assert (await observed(platform))["observedAt"] > before["observedAt"]
        status = "/internal/v1/topology/status?releaseId="
        for release_id, number in ((platform.release.release_id, 1), (new_id("rel"), 0)):
            answer = await platform.router.get(status + release_id, token=CONTROL_PLANE_TO_ROUTER)
            assert len(answer.json["observations"]) == number
        answer = await platform.router.get(f"{status}a%20b", token=CONTROL_PLANE_TO_ROUTER)
        require_error(answer, 400, "VALIDATION_ERROR", "4")


async def test_a_router_that_cannot_be_asked_is_an_error_and_never_0(stores: DatabaseUrls) -> None:
    async with gateway_alone(stores, any_free_port()) as platform:
        for name in ("reach", "observation"):
            reply = await read_of(platform, name)
            require_error(reply, 503, "DEPENDENCY_ERROR", "2", "router_unreachable")
