"""The deadline of a JSON Invocation: the smaller of two bounds, counted from receipt, owned by the Router."""

import asyncio
from datetime import datetime, timedelta

import pytest

from tests.support.agent import a_message, a_task, data
from tests.support.cards import some_limits
from tests.support.errors import require_error
from tests.support.loop import Changes, Platform, running_platform
from tests.support.peers import after, hold, unending
from tests.support.postgres import PostgresForTests
from tests.support.waiting import generous, generous_ms, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def brief(platform: Platform, milliseconds: int) -> str:
    """The id of an Agent whose Card grants this much time, and is in the Router's cache."""
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=milliseconds))
    platform.agent.usual = ()
    await platform.invoke(agentId=card["agentId"])
    return str(card["agentId"])


@pytest.mark.rows("TMO-01")
async def test_an_agent_that_holds_is_timed_out(platform: Platform) -> None:
    agent_id = await brief(platform, 50)
    platform.agent.usual = (hold,)
    reply = await platform.invoke(agentId=agent_id)
    require_error(reply, 504, "TIMEOUT", "4")
    detail = await platform.detail(reply.json["invocationId"])
    assert detail["events"][-1]["error"] == reply.json
    assert detail["invocation"]["latencyMs"] < generous(5000)
    for request in platform.agent.calls(None, reply.json["invocationId"]):
        async with promptly(1):
            await request.left.wait()


@pytest.mark.second_ring
@pytest.mark.rows("TMO-02")
async def test_the_smaller_of_card_and_platform_wins(postgres: PostgresForTests) -> None:
    milliseconds = generous_ms(0.15)
    settings = {"PLATFORM_INVOCATION_DEADLINE_MS": str(milliseconds)}
    changes = Changes(router=settings, card={"limits": some_limits(timeoutMs=600_000)})
    async with running_platform(await postgres.new_platform(), changes) as platform:
        platform.agent.usual = (hold,)
        detail = await platform.require_failed(await platform.invoke(), 504, "TIMEOUT")
        record = detail["invocation"]
        granted = datetime.fromisoformat(record["deadlineAt"]) - datetime.fromisoformat(record["createdAt"])
        assert timedelta() < granted <= timedelta(milliseconds=milliseconds), "from receipt, before it was created"


@pytest.mark.rows("TMO-04")
async def test_a_known_task_is_told_to_stop_exactly_once_at_the_deadline(platform: Platform) -> None:
    agent_id = await brief(platform, generous_ms(0.1))
    platform.agent.usual = (a_task("working"),)
    reply = await platform.invoke(agentId=agent_id)
    await platform.require_failed(reply, 504, "TIMEOUT")
    invocation_id = reply.json["invocationId"]
    await platform.agent.arrival("tasks/cancel")
    await asyncio.sleep(0.1)
    sent = platform.agent.methods(invocation_id)
    assert (sent[0], sent[-1], sent.count("tasks/cancel")) == ("message/send", "tasks/cancel", 1)
    assert platform.agent.calls(None, invocation_id)[-1].json["params"] == {"id": "task-7"}


@pytest.mark.rows("TMO-05")
async def test_an_answer_after_the_deadline_changes_nothing(platform: Platform) -> None:
    milliseconds = generous_ms(0.07)
    agent_id = await brief(platform, milliseconds)
    platform.agent.usual = (after(0.002 * milliseconds, a_message(data("late"))),)
    reply = await platform.invoke(agentId=agent_id)
    await platform.require_failed(reply, 504, "TIMEOUT")
    await asyncio.sleep(0.0012 * milliseconds)
    assert (await platform.types(reply.json["invocationId"]))[-1] == "timed_out"


@pytest.mark.second_ring
@pytest.mark.rows("TMO-01")
async def test_an_answer_that_drips_is_bounded_by_the_deadline_too(platform: Platform) -> None:
    agent_id = await brief(platform, generous_ms(0.07))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n"
    platform.agent.usual = (unending(head, b" ", 0.02),)
    await platform.require_failed(await platform.invoke(agentId=agent_id), 504, "TIMEOUT")
