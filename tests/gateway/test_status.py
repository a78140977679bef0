"""What the Gateway tells of a Router: the Router's own words, or that it gave no usable answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from aop.contracts.documents import document
from aop.control_plane.app import build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.contracts import CONTRACTS
from tests.support.peers import Behaviour, Received, after, hold, listening, reset
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running
from tests.support.waiting import becomes_true

EXAMPLES = CONTRACTS / "router-status" / "1" / "examples" / "valid"
UNAVAILABLE = {
    "controlPlane": "ok",
    "router": "unavailable",
    "topology": "unavailable",
    "routers": [{"status": "unavailable"}],
}


class ScriptedRouter:
    """Answers every request as it was told last."""

    def __init__(self) -> None:
        self.behaviour: Behaviour = hold
        self.requests: list[str] = []

    async def meet(self, received: Received) -> None:
        self.requests.append(received.target)
        await self.behaviour(received)


def answering(body: Any, status: int = 200) -> Behaviour:
    async def behave(received: Received) -> None:
        await received.answer(json.dumps(body).encode(), status)

    return behave


def words(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_bytes())
    return found


@pytest_asyncio.fixture
async def scripted(stores: DatabaseUrls) -> AsyncIterator[tuple[ScriptedRouter, RunningUnit]]:
    router = ScriptedRouter()
    async with listening(router.meet) as port:
        settings = control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN=f"http://127.0.0.1:{port}"
        )
        async with running(lambda: build(read_control_plane_settings(settings))) as gateway:
            yield router, gateway


async def test_what_a_router_says_of_itself_is_told_without_its_own_id(
    scripted: tuple[ScriptedRouter, RunningUnit], alice: str
) -> None:
    router, gateway = scripted
    for name in ("ready", "starting", "behind"):
        said = words(name)
        router.behaviour = answering(said)

        async def is_shown(said: dict[str, Any] = said) -> bool:
            reply = await gateway.get("/v1/status", token=alice)
            assert document("health/1#platformStatus").violations(reply.json) == ()
            assert said["routerId"] not in reply.body.decode()
            (shown,) = reply.json["routers"]
            return bool(shown == {key: value for key, value in said.items() if key != "routerId"})

        await becomes_true(is_shown)
        reply = await gateway.get("/v1/status", token=alice)
        assert (reply.json["router"], reply.json["topology"]) == ("ok", said["topology"]["state"])


async def test_a_router_without_a_usable_answer_is_told_as_unavailable_and_never_as_ok(
    scripted: tuple[ScriptedRouter, RunningUnit], alice: str
) -> None:
    """Also one of another edition, which does not know the read or has other members: no two are supported at once."""
    router, gateway = scripted
    ready = words("ready")
    not_found = {"code": "NOT_FOUND", "message": "No such resource.", "traceId": "0" * 31 + "1"}
    answers: list[Behaviour] = [
        answering(not_found, 404),
        answering({key: value for key, value in ready.items() if key != "facts"}),
        answering({**ready, "later": 1}),
        answering(ready, 503),
        reset,
        hold,
    ]
    for answer in answers:
        router.behaviour = answering(ready)

        async def is_ok() -> bool:
            return bool((await gateway.get("/v1/status", token=alice)).json["router"] == "ok")

        async def is_not_ok() -> bool:
            return not await is_ok()

        await becomes_true(is_ok)
        router.behaviour = answer
        await becomes_true(is_not_ok)
        assert (await gateway.get("/v1/status", token=alice)).json == UNAVAILABLE


async def test_a_hundred_callers_at_once_cost_the_router_one_request(
    scripted: tuple[ScriptedRouter, RunningUnit], alice: str
) -> None:
    router, gateway = scripted
    may_answer = asyncio.Event()
    router.behaviour = after(may_answer, answering(words("ready")))
    callers = [asyncio.create_task(gateway.get("/v1/status", token=alice)) for _ in range(100)]

    async def is_asked() -> bool:
        return bool(router.requests)

    await becomes_true(is_asked)
    await asyncio.sleep(0.1)
    may_answer.set()
    replies = await asyncio.gather(*callers)
    assert {(reply.status, reply.json["router"]) for reply in replies} == {(200, "ok")}
    # Not one for each caller; one more when the machine was so busy that the first answer had become old.
    assert len(router.requests) <= 2
    assert set(router.requests) == {"/internal/v1/status"}
