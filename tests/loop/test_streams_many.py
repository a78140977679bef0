"""A hundred streams at once whose callers stay, leave or stall at random: each has one terminal, as its caller saw."""

import asyncio
import random

import pytest

from aop.local.state import DatabaseUrls
from tests.support.agent import credential_of, invocation_of, method_of
from tests.support.cards import some_limits
from tests.support.loop import Changes, Platform, running_platform
from tests.support.peers import Behaviour, Received
from tests.support.stream import TERMINALS, StreamCaller, requesting, require_agreement
from tests.support.streaming_agent import a_whole_stream, artifact, endless, status, streamed, task
from tests.support.waiting import generous

pytestmark = pytest.mark.second_ring

CALLERS = 100
SEED = 20_611


def behaviours(chance: random.Random) -> list[Behaviour]:
    pauses = [chance.random() * 0.02 for _ in range(12)]
    whole = a_whole_stream(10)
    slow = [step for result, pause in zip(whole, pauses, strict=True) for step in (pause, result)]
    return [
        streamed(*whole),
        streamed(*slow),
        streamed(*slow, artifact("late", "b"), end="open"),
        streamed(*slow[:10]),
        streamed(*slow[:10], end="cut"),
        streamed(*slow[:10], b"data: garbage\n\n", end="open"),
        streamed(*slow[:10], status("failed"), end="open"),
        streamed(task(), end="open"),
        endless(1, seconds=0.005),
    ]


async def one_call(platform: Platform, chance: random.Random) -> StreamCaller | None:
    """A caller who stays to the end, or None for one who left."""
    plan, moment = chance.choice(["stay", "stay", "fin", "reset", "half", "stall"]), chance.random() * 0.4
    async with requesting(platform, window=4096) as caller:
        if plan in {"stay", "stall"}:
            await asyncio.sleep(1.5 if plan == "stall" else 0)
            await read_all(caller)
            return caller
        reading = asyncio.create_task(read_all(caller))
        await asyncio.sleep(moment)
        reading.cancel()
        await asyncio.wait({reading})
        if reading.cancelled():
            {"fin": caller.leave, "reset": caller.reset, "half": caller.half_close}[plan]()
            return None
        reading.result()
        return caller


async def read_all(caller: StreamCaller) -> None:
    await caller.head()
    await caller.whole()


def require_proper_requests(requests: list[Received]) -> None:
    methods: dict[str, list[str]] = {}
    for request in requests:
        methods.setdefault(invocation_of(request), []).append(method_of(request))
    allowed = (["message/stream"], ["message/stream", "tasks/cancel"])
    assert all(sent in allowed for sent in methods.values()), methods
    assert len({credential_of(request).claims["jti"] for request in requests}) == len(requests)


@pytest.mark.rows("STR-01", "CAN-01")
async def test_a_hundred_streams_with_random_departures_each_end_once_as_their_caller_saw(
    stores: DatabaseUrls,
) -> None:
    chance = random.Random(SEED)
    limits = some_limits(timeoutMs=round(max(3, generous(0.4)) * 1000))
    async with running_platform(stores, Changes(card={"limits": limits})) as platform:
        choices = behaviours(chance)
        for _ in range(CALLERS):
            platform.agent.script(chance.choice(choices))
        calls = [one_call(platform, random.Random(SEED + number)) for number in range(CALLERS)]
        callers = await asyncio.gather(*calls)
        stayed = [caller for caller in callers if caller is not None]
        assert 40 <= len(stayed) <= 90
        for caller in stayed:
            await require_agreement(platform, caller)
        seen = {caller.invocation_id: TERMINALS[caller.types[-1]] for caller in stayed}
        for invocation_id in await every_invocation(platform):
            # Who left saw no terminal; when one was already on its way, it stands.
            last = (await platform.ended(invocation_id))["events"][-1]["type"]
            assert last == seen.get(invocation_id, last)
        assert set(seen.values()) >= {"succeeded", "failed", "timed_out"}
        await asyncio.sleep(0.2)
        require_proper_requests(platform.agent.received)
        assert platform.router.server.request_count <= 1
        assert (await platform.gateway.get("/livez")).status == 200


async def every_invocation(platform: Platform) -> set[str]:
    page = await platform.read("/invocations?limit=100")
    assert "nextCursor" not in page
    return {record["invocationId"] for record in page["items"]}
