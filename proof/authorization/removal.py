"""Callers of a Workspace who are removed while they call, at two Control Planes at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from proof.area import Figure, Findings, Run, proves
from tests.support.agent import echo
from tests.support.loop import SPACE, Changes, Platform, running_platform
from tests.support.settings import control_plane_environment
from tests.support.units import Reply, RunningUnit, running

QUIET = {"PLATFORM_LOG_LEVEL": "error"}
AT_ONCE = 50
AFTER_REMOVAL = 500
"""Calls that follow each answer."""
_REFUSED = (403, "FORBIDDEN", "not_caller")


@dataclass(frozen=True)
class Scene:
    platform: Platform
    control_planes: Sequence[RunningUnit]
    token: str
    """Of the caller who is added and removed."""

    async def call(self, number: int) -> Reply:
        unit = self.control_planes[number % len(self.control_planes)]
        return await unit.post(f"/v1/workspaces/{SPACE}/invocations", self.platform.request(), token=self.token)

    async def call_many(self, count: int) -> list[Reply]:
        return await asyncio.gather(*map(self.call, range(count)))


@asynccontextmanager
async def opened_scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with running_platform(stores, Changes(control_plane=QUIET, router=QUIET)) as platform:
        platform.agent.usual = (echo,)
        environment = control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN=platform.router.origin, **QUIET
        )
        settings = read_control_plane_settings(environment)
        token = (await issue_token(stores.control_plane, "bob")).token.reveal()
        async with running(lambda: build(settings)) as second:
            yield Scene(platform, (platform.gateway, second), token)


@proves(
    "No call that follows the answer to the removal of a caller is accepted, at the Control Plane that answered or at"
    " another; a call that was accepted before ends as it would have."
)
async def remove_while_calling(run: Run, found: Findings) -> None:
    rounds, followed = run.pick(2, 20), 0
    async with run.stores() as (stores, _), opened_scene(stores) as scene:
        for _ in range(rounds):
            await scene.platform.owner.add_caller("bob", SPACE)
            known = await scene.platform.recorded()
            beside = asyncio.create_task(scene.call_many(AT_ONCE))
            await asyncio.sleep(0.01)  # some of them are accepted, and some are on their way
            await scene.platform.owner.remove_caller("bob", SPACE)
            answers: Counter[tuple[int, str, str]] = Counter()
            for _ in range(AFTER_REMOVAL // AT_ONCE):
                replies = await scene.call_many(AT_ONCE)
                answers.update((one.status, one.json.get("code", ""), one.json.get("reason", "")) for one in replies)
            followed += answers.total()
            found.require(set(answers) == {_REFUSED}, f"after the removal: {answers}")
            accepted = sum(one.status == 200 for one in await beside)
            found.hits["accepted before the removal"] += accepted
            recorded = await scene.platform.recorded()
            found.require(recorded == known + accepted, f"{recorded - known} are in the Ledger, {accepted} had results")
    found.figures.append(Figure("calls that followed a removal", followed, at_least=rounds * AFTER_REMOVAL))
