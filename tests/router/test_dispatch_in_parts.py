"""A dispatch that comes in parts: its head alone, or all but its last byte. It counts when all of it is there."""

import asyncio
import json
from datetime import timedelta

import pytest

from aop.base.clock import from_text
from aop.serving.edge import body as body_module
from tests.router.conftest import Lone, LoneRouter
from tests.support.errors import require_error
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.waiting import becomes_true, patience

WAIT_SECONDS = 2.0
MOMENT_SECONDS = 0.2

Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def test_a_head_whose_body_never_comes_leaves_nothing_and_gives_its_slot_back(lone: Lone) -> None:
    async with lone(PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS="1") as router:
        _, writer = await begun(router, 100)
        await gives_its_slot_back(router, writer)


@pytest.mark.rows("INV-01")
async def test_a_dispatch_counts_once_its_last_byte_has_come(router: LoneRouter) -> None:
    reader, writer = await held_back(router, a_dispatch(router) + b"\n")
    assert (await router.recorded(), router.agent.calls()) == (0, [])
    writer.write(b"\n")
    assert await status_of(reader, writer) == 200
    assert (await router.recorded(), len(router.agent.calls())) == (1, 1)


@pytest.mark.rows("INV-09")
async def test_a_dispatch_that_is_dropped_before_its_last_byte_leaves_nothing(lone: Lone) -> None:
    async with lone(PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS="1") as router:
        _, writer = await held_back(router, a_dispatch(router) + b"\n")
        await gives_its_slot_back(router, writer)
        assert len(router.agent.calls()) == 1


async def test_a_last_byte_that_does_not_come_in_time_is_refused_and_leaves_nothing(
    router: LoneRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_module, "RECEIPT_SECONDS", WAIT_SECONDS)
    assert await status_of(*await held_back(router, a_dispatch(router) + b"\n")) == 400
    assert (await router.recorded(), router.agent.calls()) == (0, [])


async def test_a_refusal_is_not_told_before_the_last_byte(router: LoneRouter) -> None:
    refused = a_dispatch(router, input=[])
    reader, writer = await begun(router, len(refused) + 1)
    writer.write(refused)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(MOMENT_SECONDS):
            await reader.read(1)
    writer.write(b"\n")
    assert await status_of(reader, writer) == 400
    assert await router.recorded() == 0


@pytest.mark.parametrize(
    ("behind", "status"),
    [(b"", 200), (b" ", 200), (b"\t", 200), (b"x", 400), (b"}", 400), (b"\0", 400)],
    ids=["the end of the document", "a space", "a tab", "a letter", "a bracket", "a zero"],
)
async def test_whatever_the_last_byte_is_it_is_a_part_of_the_body(
    router: LoneRouter, behind: bytes, status: int
) -> None:
    whole = a_dispatch(router) + behind
    reader, writer = await begun(router, len(whole))
    writer.write(whole[:-1])
    await asyncio.sleep(MOMENT_SECONDS)
    writer.write(whole[-1:])
    assert await status_of(reader, writer) == status
    assert await router.recorded() == (status == 200)


@pytest.mark.rows("TMO-02")
@pytest.mark.parametrize("late", [0, 1], ids=["the body", "its last byte"])
async def test_the_time_of_a_call_runs_from_the_receipt_of_its_body(router: LoneRouter, late: int) -> None:
    content = a_dispatch(router) + b"\n"
    at = (len(content) - 1) * late
    reader, writer = await begun(router, len(content))
    writer.write(content[:at])
    await asyncio.sleep(WAIT_SECONDS)
    writer.write(content[at:])
    assert await status_of(reader, writer) == 200
    record = (await router.read(f"/invocations/{json.loads(content)['invocationId']}")).json["invocation"]
    granted = from_text(record["deadlineAt"]) - from_text(record["createdAt"])
    whole = timedelta(milliseconds=router.plane.card["limits"]["timeoutMs"])
    assert whole - timedelta(seconds=WAIT_SECONDS) < granted <= whole


def a_dispatch(router: LoneRouter, **members: object) -> bytes:
    return json.dumps(router.plane.dispatch(**members)).encode()


async def held_back(router: LoneRouter, body: bytes) -> Wire:
    """All but the last byte of it is sent."""
    reader, writer = await begun(router, len(body))
    writer.write(body[:-1])
    await asyncio.sleep(MOMENT_SECONDS)
    return reader, writer


async def begun(router: LoneRouter, size: int) -> Wire:
    """The head of a dispatch, which the Router has admitted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", router.unit.port)
    lines = (
        "POST /internal/v1/invocations HTTP/1.1",
        "host: router",
        f"authorization: Bearer {CONTROL_PLANE_TO_ROUTER}",
        "content-type: application/json",
        f"content-length: {size}",
    )
    writer.write("\r\n".join((*lines, "", "")).encode())

    async def is_there() -> bool:
        return router.unit.server.request_count > 0

    await becomes_true(is_there)
    return reader, writer


async def status_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    async with patience():
        answer = await reader.readline()
    writer.close()
    return int(answer.split()[1])


async def gives_its_slot_back(router: LoneRouter, writer: asyncio.StreamWriter) -> None:
    require_error(await router.dispatch(), 503, "OVERLOADED", "4")
    writer.transport.abort()

    async def has_a_free_slot() -> bool:
        return (await router.dispatch()).status == 200

    await becomes_true(has_a_free_slot)
    assert await router.recorded() == 1
