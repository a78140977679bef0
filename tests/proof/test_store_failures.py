"""The store fails around a write: whatever was acknowledged is there, and whatever was accepted ends exactly once."""

import asyncio
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from aop.base.clock import utc_now
from aop.ledger.epochs import close_earlier
from aop.ledger.group_commit import EpochFenced
from aop.ledger.journal import AcceptanceFailed, AcceptanceUnknown, AcceptedButLost, Journal
from aop.ledger.model import LOST, SUCCEEDED, Acceptance, Place
from aop.local.postgres import EmbeddedPostgres
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, connect
from aop.store.migrations import migrate
from proof.fault_proxy import Direction, FaultProxy, store_proxy
from tests.ledger.writing import ROUTER, Writing, an_acceptance, an_end, breaches, digits, new_epoch, writing
from tests.support.errors import require_error
from tests.support.loop import Changes, Platform, running_platform
from tests.support.metrics import numbers
from tests.support.peers import Received
from tests.support.waiting import becomes_true

WORKERS = 8
EVERY = 10
"""A usual run cuts behind one byte of so many; a thorough one behind each."""


def way_through(proxy: FaultProxy, url: str) -> Any:
    async def connected() -> Connection:
        return await connect(proxy.through(url), application="test journal")

    return connected


async def accepted(journal: Journal, acceptance: Acceptance) -> tuple[str, Place | None]:
    """What the Router is told, and what it then does about it."""
    try:
        return "accepted", await journal.accept(acceptance)
    except AcceptedButLost as found:
        await journal.end_as_lost(found.place)
        return "lost", found.place
    except AcceptanceFailed:
        return "failed", None
    except AcceptanceUnknown:
        return "unknown", None


async def require_agreement(look: Connection, acceptance: Acceptance, told: str) -> None:
    """The store holds what was told: an Invocation, an Invocation that failed at once, or nothing."""
    rows = await look.fetch(
        "SELECT type, error_code FROM ledger.invocation LEFT JOIN ledger.event USING (invocation_id)"
        " WHERE invocation_id = $1",
        digits(acceptance.context.lineage.invocation),
    )
    expected = {"accepted": [(None, None)], "lost": [(LOST.type, LOST.error)], "failed": []}
    assert [tuple(row) for row in rows] == expected[told]


@pytest.mark.rows("OPS-15")
async def test_the_first_write_cut_at_any_byte_leaves_nothing_or_one_terminal(
    stores: DatabaseUrls, thorough: bool
) -> None:
    first, step = (0, 1) if thorough else (random.randrange(EVERY), EVERY)
    sys.stdout.write(f"every {step}th byte from {first} on\n")
    tellings: dict[str, set[str]] = {"up": set(), "down": set()}

    async def cut_at(proxy: FaultProxy, written: Writing, look: Connection, direction: Direction, behind: int) -> None:
        await written.journal.accept(an_acceptance())
        acceptance = an_acceptance()
        proxy.cut(direction, behind)
        told, _ = await accepted(written.journal, acceptance)
        proxy.disarm()
        await proxy.cut_done()
        await require_agreement(look, acceptance, told)
        tellings[direction].add(told)

    async def worker(number: int) -> None:
        async with (
            store_proxy(stores.router) as proxy,
            writing(
                stores.router, connect_by=way_through(proxy, stores.router), router_id=f"router-{number}"
            ) as written,
        ):
            look = await connect(stores.router, application="test")
            await written.journal.accept(an_acceptance())
            up, down = proxy.up, proxy.down
            await written.journal.accept(an_acceptance())
            up, down = proxy.up - up, proxy.down - down
            # The name of the prepared statement grows with its number, so the last request is a little longer.
            ways: dict[Direction, int] = {"up": up + 7, "down": down}
            whole = [(way, byte) for way, most in ways.items() for byte in range(1, most + 1)]
            ends = [(way, byte) for way, most in ways.items() for byte in range(most - 10, most + 1)]
            points = sorted({*whole[first::step], *ends})
            for direction, behind in points[number::WORKERS]:
                await cut_at(proxy, written, look, direction, behind)
            await look.close()

    await asyncio.gather(*(worker(number) for number in range(WORKERS)))
    # Each way it can go was met: nothing recorded, recorded but learned too late, recorded and answered.
    assert tellings["up"] >= {"failed", "lost"}
    assert tellings["down"] >= {"lost", "accepted"}


@pytest.mark.rows("OPS-15")
async def test_an_acceptance_nobody_can_decide_is_answered_without_ids_and_ends_when_the_store_is_back(
    stores: DatabaseUrls,
) -> None:
    async with (
        store_proxy(stores.router) as proxy,
        writing(stores.router, connect_by=way_through(proxy, stores.router), seconds=0.4) as written,
    ):
        await written.journal.accept(an_acceptance())
        place = await written.journal.accept(an_acceptance())
        up = proxy.up
        await written.journal.accept(an_acceptance())
        whole = proxy.up - up
        acceptance = an_acceptance()
        proxy.cut("up", whole)
        proxy.is_open = False
        told, _ = await accepted(written.journal, acceptance)
        assert (told, written.journal.unsettled().count) == ("unknown", 1)
        proxy.open()

        async def paid() -> bool:
            return written.journal.unsettled().count == 0

        await becomes_true(paid)
        invocation = acceptance.context.lineage.invocation
        found = await written.rows("SELECT FROM ledger.invocation WHERE invocation_id = $1", digits(invocation))
        assert await written.terminals(invocation) == [(LOST.type, LOST.error)] * len(found)
        assert await written.journal.end(an_end(place, SUCCEEDED))


async def in_ledger(platform: Platform, invocation_id: str) -> list[tuple[str, str | None]]:
    connection = await connect(platform.stores.migration, application="test")
    try:
        await connection.execute("SET ROLE aop_owner")
        rows = await connection.fetch(
            "SELECT type, error_code FROM ledger.event WHERE invocation_id = $1", invocation_id.removeprefix("inv_")
        )
    finally:
        await connection.close()
    return [(row["type"], row["error_code"]) for row in rows]


@pytest.mark.rows("INV-25", "LED-15")
async def test_a_terminal_the_store_does_not_take_is_told_as_a_failure_and_recorded_when_it_is_back(
    stores: DatabaseUrls, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    async with store_proxy(stores.router) as proxy:
        changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "800"})
        through = DatabaseUrls(stores.control_plane, proxy.through(stores.router), stores.migration)
        async with running_platform(through, changes) as platform:

            async def cut_then_answer(received: Received) -> None:
                proxy.close()
                await received.answer(
                    b'{"jsonrpc":"2.0","id":"1","result":{"kind":"message","messageId":"m","role":"agent",'
                    b'"parts":[{"kind":"data","data":{}}]}}'
                )

            platform.agent.script(cut_then_answer)
            reply = await platform.invoke()
            require_error(reply, 503, "DEPENDENCY_ERROR", "4")
            assert set(reply.json) == {"code", "message", "traceId", "invocationId", "rootTaskId"}
            invocation_id = reply.json["invocationId"]
            for path in (f"/invocations/{invocation_id}", f"/traces/{reply.json['traceId']}", "/invocations"):
                read = await platform.gateway.get(f"/v1/workspaces/space{path}", token=platform.token)
                require_error(read, 503, "DEPENDENCY_ERROR", "4")
            refused = await platform.invoke()
            require_error(refused, 503, "DEPENDENCY_ERROR", "4", None)  # nothing was sent to the store: that is known
            assert "invocationId" not in refused.json
            assert await in_ledger(platform, invocation_id) == []
            assert await waits_for_the_store(platform) == 1
            proxy.open()

            async def ended() -> bool:
                return bool(await in_ledger(platform, invocation_id))

            await becomes_true(ended)
            assert await in_ledger(platform, invocation_id) == [("failed", "DEPENDENCY_ERROR")]
            await becomes_true(lambda: _ready(platform))
            assert await waits_for_the_store(platform) == 0
            assert (await platform.invoke()).status == 200
    told = [json.loads(line) for line in capfdbinary.readouterr().err.splitlines()]
    records = [(record["event"], record["level"]) for record in told if record["event"].startswith("ledger.")]
    assert records == [("ledger.unsettled", "warning"), ("ledger.settled", "info")]
    assert await breaches(stores.router) == []


@pytest.mark.rows("SAFE-12", "OPS-15")
async def test_a_first_write_that_nobody_can_decide_is_told_as_an_unknown_acceptance(stores: DatabaseUrls) -> None:
    async with store_proxy(stores.router) as proxy:
        changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "400"})
        through = DatabaseUrls(stores.control_plane, proxy.through(stores.router), stores.migration)
        async with running_platform(through, changes) as platform:
            assert (await platform.invoke()).status == 200
            proxy.freeze()
            reply = await platform.invoke()
            proxy.thaw()
            require_error(reply, 503, "DEPENDENCY_ERROR", "4", "acceptance_unknown")
            assert set(reply.json) == {"code", "message", "reason", "traceId"}
            assert len(platform.agent.calls("message/send")) == 1, "the Agent was not contacted"
            await becomes_true(lambda: _ready(platform))
            await becomes_true(lambda: _decided(platform, reply.json["traceId"]))
    assert await breaches(stores.router) == []


async def _decided(platform: Platform, trace_id: str) -> bool:
    """The Trace read tells of a failed Invocation, or of none."""
    read = await platform.gateway.get(f"/v1/workspaces/space/traces/{trace_id}", token=platform.token)
    return read.status == 404 or [item["status"] for item in read.json.get("invocations", ())] == ["failed"]


async def waits_for_the_store(platform: Platform) -> float:
    """How many terminals, as the metrics tell it."""
    names = ("aop_ledger_unconfirmed_acceptances", "aop_ledger_deferred_terminals", "aop_ledger_denied_terminals")
    unconfirmed, deferred, denied = [(await numbers(platform.router, name))[()] for name in names]
    seconds = (await numbers(platform.router, "aop_ledger_unsettled_seconds"))[()]
    assert (unconfirmed, denied, seconds > 0) == (0, 0, deferred > 0)
    return deferred


async def _ready(platform: Platform) -> bool:
    return (await platform.router.get("/readyz")).status == 200


async def _load(journal: Journal, acknowledged: dict[str, bool], until: asyncio.Event) -> None:
    """Accepts and ends until told to stop, and keeps what was acknowledged: accepted, and whether ended too."""
    while not until.is_set():
        acceptance = an_acceptance()
        told, place = await accepted(journal, acceptance)
        if told == "failed" or place is None:
            await asyncio.sleep(0.01)
            continue
        acknowledged[acceptance.context.lineage.invocation] = told == "accepted" and await journal.end(
            an_end(place, SUCCEEDED)
        )


async def test_killing_the_store_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    home, log = tmp_path / "postgres", tmp_path / "postgres.log"
    acknowledged: dict[str, bool] = {}
    servers: list[EmbeddedPostgres] = []

    def url() -> str:
        return servers[-1].url(database="postgres")

    async def connected() -> Connection:
        return await connect(url(), application="test journal")

    async with EmbeddedPostgres(home, log) as first:
        servers.append(first)
        await migrate(url())
        async with writing(url(), connect_by=connected, seconds=2) as written:
            over = asyncio.Event()
            load = [asyncio.create_task(_load(written.journal, acknowledged, over)) for _ in range(32)]
            await asyncio.sleep(1.0)
            before = len(acknowledged)
            os.kill(first.pid, signal.SIGKILL)
            async with EmbeddedPostgres(home, log) as second:
                servers.append(second)

                async def goes_on() -> bool:
                    return len(acknowledged) > before + 100

                await becomes_true(goes_on, 15)
                over.set()
                await asyncio.gather(*load)

                async def paid() -> bool:
                    return written.journal.unsettled().count == 0

                await becomes_true(paid)
                written.url = url()
                rows = await written.rows(
                    "SELECT invocation_id, count(type) AS terminals FROM ledger.invocation"
                    " LEFT JOIN ledger.event USING (invocation_id) GROUP BY 1"
                )
                found = {f"inv_{row['invocation_id'].hex}": row["terminals"] for row in rows}
                assert before > 20
                assert set(acknowledged) <= set(found)
                assert set(found.values()) == {1}
                assert await breaches(url()) == []


async def test_what_a_cut_off_writer_left_open_is_ended_by_the_next_epoch(stores: DatabaseUrls) -> None:
    async with (
        store_proxy(stores.router) as proxy,
        writing(stores.router, connect_by=way_through(proxy, stores.router), seconds=0.3) as written,
    ):
        place = await written.journal.accept(an_acceptance())
        proxy.close()
        assert await written.journal.end(an_end(place, SUCCEEDED)) is False
        epoch = await new_epoch(stores.router)
        connection = await connect(stores.router, application="test")
        assert (await close_earlier(connection, ROUTER, epoch, utc_now)).ended == 1
        await connection.close()
        proxy.open()
        with pytest.raises(EpochFenced):
            await written.journal.accept(an_acceptance())
        assert await written.terminals(place.context.lineage.invocation) == [(LOST.type, LOST.error)]
