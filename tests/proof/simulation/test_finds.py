"""What the simulation has found, each once more on its own."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing, closing
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id, new_id, new_opening_id
from aop.base.loops import Loops
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.ledger.model import SUCCEEDED, Acceptance, Opening, Writer, terminal_fact
from aop.ledger.write.epochs import open_epoch
from aop.ledger.write.journal import AcceptedButLost, Journal
from aop.net.asgi import Disconnect
from aop.net.own_server import OWN_SERVER
from aop.serving.edge.request import Request
from aop.serving.edge.streaming import EventStream
from tests.ledger.simulated.connection import connect
from tests.ledger.simulated.loop import History, SimulatedLoop
from tests.ledger.simulated.store import Store, StoreFault, StorePlan

pytestmark = pytest.mark.second_ring

ROUTER = "router-1"


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    with closing(SimulatedLoop()) as made:
        made.begin(1, max_seconds=100)
        yield made


class ForgetfulStore(Store):
    """The answer to the first statement of one kind is lost, and for a while nobody can connect."""

    def __init__(self, loop: SimulatedLoop, kind: str, away: float) -> None:
        super().__init__(StorePlan(), 1, History(loop))
        self._kind: str | None = kind
        self._away = away

    def fault(self, kind: str) -> StoreFault | None:
        if kind != self._kind:
            return None
        self._kind = None
        now = asyncio.get_running_loop().time()
        self.plan = StorePlan(down_from=now + 0.0001, down_until=now + self._away)
        return StoreFault.LOST_AFTER

    def refusal_seconds(self) -> float:
        return 0.0


async def opened(store: Store) -> Journal:
    connection = await connect(store)
    writer = Writer(ROUTER, await open_epoch(connection, ROUTER))
    journal = Journal(
        writer, partial(connect, store), utc_now, write_seconds=store.plan.write_seconds, fenced=lambda: None
    )
    journal.start(Loops(lambda _: lambda _: None))
    return journal


def acceptance() -> Acceptance:
    lineage = Lineage(new_id("inv"), new_id("task"), new_hex_id())
    pin = Pin("space", "acme:agent", "1.0.0", new_id("rel"), "0" * 64)
    context = InvocationContext(lineage, pin, Caller(type=CallerType.USER, id="alice"), "work")
    return Acceptance(context, Opening.STARTED, new_opening_id(), utc_now(), utc_now())


def test_a_terminal_is_looked_for_until_its_time_is_up_though_the_store_cannot_be_reached_at_first(
    loop: SimulatedLoop,
) -> None:
    async def ended() -> bool:
        journal = await opened(ForgetfulStore(loop, "append", away=0.5))
        place = await journal.accept(acceptance())
        try:
            return await journal.end(terminal_fact(place, new_hex_id(), utc_now(), SUCCEEDED))
        finally:
            await journal.close()

    assert loop.run_until_complete(ended())


def test_a_fenced_router_leaves_what_it_found_too_late_to_the_newer_epoch(loop: SimulatedLoop) -> None:
    async def lost() -> None:
        store = ForgetfulStore(loop, "accept", away=0.5)
        journal = await opened(store)
        with pytest.raises(AcceptedButLost) as found:
            await journal.accept(acceptance())
        await open_epoch(await connect(store), ROUTER)
        await journal.end_unstarted(found.value.last_fact)
        await journal.close()

    loop.run_until_complete(lost())


def test_a_reader_who_stalls_for_long_costs_a_few_comments_and_no_spinning(loop: SimulatedLoop) -> None:
    gone, sent, comments = Disconnect(), list[Any](), list[bytes]()

    async def silent() -> AsyncGenerator[bytes, None]:
        yield b"data: {}\n\n"
        await asyncio.sleep(60)

    async def stalls(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            await gone.wait()

    async def deliver() -> None:
        async def receive() -> Any:
            await gone.wait()

        server = SimpleNamespace(disconnect=gone, comment=comments.append)
        scope = {"method": "POST", "headers": [], OWN_SERVER: server}
        loop.call_later(50, gone.set)
        async with aclosing(silent()) as source:
            await EventStream(source).deliver(Request(scope, receive), (), stalls)

    _within_steps(loop, deliver(), 200)
    assert len(sent) == 2, "the head, and the piece that stalls"
    assert len(comments) == 6, "one for each 8 s of 50, which a server leaves out while the piece waits"


def _within_steps(loop: SimulatedLoop, work: Coroutine[Any, Any, None], steps: int) -> None:
    """Fails with NeverRests once more than that many callbacks ran."""
    loop.max_steps = steps
    loop.run_until_complete(work)
