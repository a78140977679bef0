"""The sample Agent meeting-brief alone: what it does without other Agents, and when those do not answer."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aop.a2a.v0_3 import TaskState
from aop.local.ports import any_free_port
from aop.net.http import HttpClient
from tests.agent.samples import RunningSample, running_sample
from tests.conformance.talk import Talk, data
from tests.support import profile
from tests.support.profile import StreamJudge
from tests.support.waiting import patience

pytestmark = pytest.mark.second_ring

NOTES = {"notes": "Weekly sync. Bob will call the bank."}


@pytest.fixture(scope="module")
def router_port() -> int:
    """Where the Agent looks for a Router. Nobody listens there unless a test does."""
    return any_free_port()


@pytest.fixture(scope="module")
def lone_sample(router_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSample]:
    url = f"http://127.0.0.1:{router_port}"
    with running_sample("meeting-brief", tmp_path_factory.mktemp("lone"), PLATFORM_AGENT_ROUTER_URL=url) as running:
        yield running


@pytest.fixture
def agenda(lone_sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(lone_sample, client, "write-agenda")


@pytest.fixture
def briefing(lone_sample: RunningSample, client: HttpClient) -> Talk:
    return Talk(lone_sample, client, "brief-meeting")


class SilentRouter:
    """Takes calls, answers none, and counts those that are given up."""

    def __init__(self) -> None:
        self.callers = 0
        self._changed = asyncio.Condition()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._count(1)
        while await reader.read(65_536):
            pass
        writer.close()
        await self._count(-1)

    async def has(self, callers: int) -> None:
        async with patience(), self._changed:
            await self._changed.wait_for(lambda: self.callers == callers)

    async def _count(self, step: int) -> None:
        async with self._changed:
            self.callers += step
            self._changed.notify_all()


@asynccontextmanager
async def silent_router(port: int) -> AsyncIterator[SilentRouter]:
    router = SilentRouter()
    async with await asyncio.start_server(router.meet, "127.0.0.1", port):
        yield router


async def test_an_agenda_shares_out_all_the_time(agenda: Talk) -> None:
    found = profile.result_value(await agenda.send(data({"topics": ["Budget", "Workshop", "Other"], "minutes": 50})))
    assert [(slot["startMinute"], slot["minutes"]) for slot in found["slots"]] == [(0, 17), (17, 17), (34, 16)]


async def test_without_a_router_a_brief_names_what_is_missing(briefing: Talk) -> None:
    found = profile.result_value(await briefing.send(data(NOTES)))
    assert (found["title"], found["summary"], found["actionItems"]) == ("Weekly sync", None, None)
    assert found["missing"] == [
        {"agentId": "aop:summarizer", "code": "DEPENDENCY_ERROR"},
        {"agentId": "aop:action-items", "code": "DEPENDENCY_ERROR"},
    ]


async def test_a_canceled_brief_gives_up_both_its_calls_and_says_canceled(briefing: Talk, router_port: int) -> None:
    judge = StreamJudge()
    async with silent_router(router_port) as router:
        async for event in briefing.events(NOTES):
            judge.read(event)
            if judge.state is TaskState.WORKING:
                await router.has(callers=2)
                found = profile.task(await briefing.call("tasks/cancel", {"id": judge.task_id}))
                assert found.status.state is TaskState.CANCELED
        judge.end()
        assert judge.state is TaskState.CANCELED
        await router.has(callers=0)


@pytest.mark.parametrize(
    "skill_input", [{"topics": []}, {"topics": ["x"], "minutes": 4}, {"topics": ["x"], "minutes": "5"}]
)
async def test_an_input_it_does_not_take_is_rejected(agenda: Talk, skill_input: dict[str, Any]) -> None:
    assert (await agenda.task(data(skill_input))).status.state is TaskState.REJECTED
