"""Hostile Agents behind the front end as they do at the Router, and the front survives them with bounded memory."""

import asyncio
import contextlib

import pytest

from tests.front.conftest import Fronted, FrontedRouter
from tests.support.agent import a_message, data
from tests.support.hostile_agents import Hostile, hasty_ms, hostile_behaviours
from tests.support.peers import hold
from tests.support.waiting import PATIENCE_SECONDS

_ELSEWHERE = "http://127.0.0.1:9/a2a"
_ROOMY = 1_048_576
_ENDED = frozenset({"breaks its output schema"})
"""The front has seen the end of the Task that the Router gives up, so that there is nothing to cancel."""


async def _meet(
    router: FrontedRouter, hostile: Hostile, cancels: int, *, streaming: bool, stream: bool
) -> tuple[str, int]:
    """The code of the outcome and the cancels that the Agent got, once there are as many as there should be."""
    router.agent.received.clear()
    router.agent.behaviour = (streaming and hostile.stream) or hostile.json
    router.agent.on_get = hostile.probed
    code = await router.call({}, stream=stream)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS if cancels else 0.05):
            while router.agent.cancels() < max(cancels, 1):  # noqa: ASYNC110  also that none comes
                await asyncio.sleep(0.01)
    return code, router.agent.cancels()


@pytest.mark.rows("FRONT-01")
@pytest.mark.parametrize("hasty", [False, pytest.param(True, marks=pytest.mark.long)], ids=["usual", "hasty"])
@pytest.mark.parametrize("streaming", [True, False], ids=["followed by stream", "followed by questions"])
async def test_a_hostile_agent_behind_the_front_ends_as_at_the_router(
    fronted: Fronted, streaming: bool, hasty: bool
) -> None:
    limits = {"streaming": streaming, "maxOutputBytes": _ROOMY, "outputSchema": {"type": "object"}}
    limits["timeoutMs"] = hasty_ms() if hasty else 20_000
    met = [one for one in hostile_behaviours(_ELSEWHERE) if one.hasty is hasty and not one.absent]
    async with fronted(hold, limits=limits) as router:
        found, expected = {}, {}
        for hostile in met:
            for stream in (False, True) if streaming else (False,):
                name = f"{hostile.name}, {'stream' if stream else 'JSON'}"
                cancels = 0 if hostile.name in _ENDED else hostile.cancels[streaming]
                expected[name] = (hostile.code or "", cancels)
                found[name] = await _meet(router, hostile, cancels, streaming=streaming, stream=stream)
        assert found == expected
        router.agent.behaviour = a_message(data({"fine": True}))
        assert await router.call({}) == ""
