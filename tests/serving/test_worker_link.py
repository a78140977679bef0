"""A process at the other end of a link is frozen when it says nothing although it was asked, and not before."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aop.serving.workers.worker_link import SILENT_TURNS, LinkLost, WorkerLink
from tests.support.waiting import patience

pytestmark = pytest.mark.rows("SOUND-06")

TURN = 0.02


async def _no_answer(question: str, body: bytes) -> bytes | None:
    return None


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[WorkerLink, WorkerLink]]:
    """The second one is not read yet."""
    ours, theirs = socket.socketpair()
    links = await WorkerLink.on(ours, _no_answer), await WorkerLink.on(theirs, _no_answer)
    reading = asyncio.create_task(links[0].run())
    try:
        yield links
    finally:
        reading.cancel()
        await asyncio.gather(reading, links[1].close(), return_exceptions=True)


async def said(link: WorkerLink, other: WorkerLink) -> None:
    """Something comes from the other end."""
    asking = asyncio.create_task(other.ask("anything", b"", 0.01))
    with pytest.raises(LinkLost):
        await asking


@pytest.mark.second_ring
async def test_one_that_says_nothing_for_some_turns_is_silent_and_one_that_answers_is_not() -> None:
    async with pair() as (link, other):
        await said(link, other)
        async with patience():
            await link.silence(TURN)
        reading = asyncio.create_task(other.run())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4 * SILENT_TURNS * TURN):
                await link.silence(TURN)
        reading.cancel()
        async with patience():
            await link.silence(TURN)


@pytest.mark.second_ring
async def test_one_that_has_not_begun_has_more_time_and_not_for_ever() -> None:
    """To start takes longer than to answer; but one that was stopped before its first word would never be replaced."""
    async with pair() as (link, _):
        waiting = asyncio.create_task(link.silence(TURN))
        await asyncio.sleep(4 * SILENT_TURNS * TURN)
        assert not waiting.done()
        async with patience():
            await waiting


async def test_nobody_is_silent_while_this_process_stands_still() -> None:
    async with pair() as (link, other):
        await said(link, other)
        watching = asyncio.create_task(link.silence(TURN))
        for _ in range(3):
            time.sleep(4 * SILENT_TURNS * TURN)  # noqa: ASYNC251  as a machine that stands still
            await asyncio.sleep(0)
            assert not watching.done()
            await said(link, other)
        watching.cancel()
