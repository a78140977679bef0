"""A Ledger that grows month by month: what calls and reads cost at each size, and what it takes to put a month away."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import asyncpg
import uvloop

from aop.base.clock import to_text, utc_now
from aop.ledger.archive.export import file_of
from aop.ledger.months import Archived, Month
from aop.ledger.read.reader import LedgerReader
from aop.ledger.write.epochs import open_epoch
from aop.local.postgres import EmbeddedPostgres
from aop.store.database import Connection, Database
from aop.store.migrations import migrate
from benchmarks import _growth_seed as seed
from benchmarks._growth_away import Command, month_away, run_command
from benchmarks._growth_reads import SKIPPED, reads, sample_of, writes
from benchmarks._newcomer import StepFailed
from benchmarks.ledger import load, open_journal
from benchmarks.measure import Figure, Report

CALLS = 5_000_000
"""With four events each. `./dev bench growth --calls N` takes another number of calls."""
MONTHS = 5
MIN_CALLS = 2 * MONTHS * seed.CALLS_PER_TRACE * (SKIPPED + 1)
"""So that each month has a sample: every second Trace is of the Workspace that is read."""
LIMIT_GROWTH = 1.3
LIMIT_MIB = 200.0
LIMIT_HELD_MILLIS = 1_000.0
LIMIT_READ, SMALL_MILLIS = 1.5, 2.0
_SERVER = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "maintenance_work_mem": "512MB",
}
_GIB = 1 << 30
_EACH = "check of all, CPU µs of an event"


def run(calls: int = CALLS) -> Report:
    if calls < MIN_CALLS:
        raise StepFailed(f"--calls is at least {MIN_CALLS:,}")
    return uvloop.run(_run(calls - calls % (MONTHS * seed.CALLS_PER_TRACE)))


async def _run(calls: int) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log", settings=_SERVER) as server:
            url = server.url(database="postgres")
            await migrate(url)
            return await _Growth(url, server.pid, calls, home).measured()


class _Growth:
    def __init__(self, url: str, postmaster: int, calls: int, home: Path) -> None:
        self._url, self._postmaster, self._calls, self._home = url, postmaster, calls, home
        self._now = utc_now()
        self._months = seed.months_until(self._now, MONTHS)
        self._columns: dict[str, dict[str, float]] = {}

    async def measured(self) -> Report:
        connection = await asyncpg.connect(self._url)
        await open_epoch(connection, "seed")
        async with open_journal(self._url) as journal:
            self._journal = journal
            await load(journal, self._postmaster)
            each = self._calls // MONTHS
            await self._grow(connection, self._months[:1], each)
            self._archived = await sample_of(connection, self._months[0])
            await self._measure(connection, self._name(1), self._months[:1])
            await self._grow(connection, self._months[1:], each)
            await self._measure(connection, self._name(MONTHS), self._months)
            commands = await self._put_away(connection)
            await self._measure(connection, "a month away", self._months[1:])
            await self._require_archived()
        size = await connection.fetchval("SELECT pg_database_size(current_database())")
        await connection.close()
        return self._report(commands, size / _GIB)

    def _name(self, months: int) -> str:
        return f"{self._calls // MONTHS * months * seed.EVENTS_PER_CALL / 1e6:g} M"

    async def _grow(self, connection: Connection, months: Sequence[Month], each: int) -> None:
        await seed.seed_months(self._url, [(month, each) for month in months], self._now)
        size = await connection.fetchval("SELECT pg_database_size(current_database())")
        _tell(f"{len(months)} months are written, {size / _GIB:.1f} GiB")
        with seed.sequencing(self._url):
            await seed.all_counted(connection, _tell)
        await connection.execute("VACUUM (ANALYZE)")
        _tell("they have numbers, are counted and in the tree")

    async def _put_away(self, connection: Connection) -> dict[str, Command]:
        """The oldest month, while calls and the sequencer go on."""
        with seed.sequencing(self._url):
            commands = await month_away(self._url, self._postmaster, self._journal, self._months[0], self._home)
            await seed.all_counted(connection, _tell)
        _tell(f"the oldest month: {commands}")
        self._file_bytes = file_of(self._home, self._months[0]).stat().st_size
        return commands

    async def _measure(self, connection: Connection, name: str, months: Sequence[Month]) -> None:
        await asyncio.sleep(1)  # sessions that end meanwhile would be missing from the CPU of the store
        found = await writes(self._journal, self._postmaster)
        with seed.sequencing(self._url):
            await seed.all_counted(connection, _tell)
        samples = {"the oldest month": months[0], "the newest month": months[-1]}
        database = await Database.open(self._url, size=2, application="benchmark")
        named = {said: await sample_of(connection, month) for said, month in samples.items()}
        until = min(seed.month_begin(months[-1].next), self._now)  # the same days of the newest month at every size
        found |= await reads(database, self._postmaster, named, until)
        await database.close()
        found |= await self._checks(until)
        self._columns[name] = found
        _tell(f"{name}: {json.dumps(self._columns[name], ensure_ascii=False)}")

    async def _checks(self, until: datetime) -> dict[str, float]:
        """Of the last hour, and of the whole Ledger."""
        hour = await self._check("--since", to_text(until - timedelta(hours=1)), "--until", to_text(until))
        whole = await self._check()
        return {
            "check of an hour, CPU s": hour.cpu_seconds,
            "check of all, CPU s": whole.cpu_seconds,
            _EACH: whole.cpu_seconds * 1e6 / whole.said["events"],
            "check of all, most MiB": whole.peak_mib,
        }

    async def _check(self, *arguments: str) -> Command:
        checked = await run_command(self._url, self._postmaster, None, "check", *arguments)
        _tell(f"check: {checked}")
        return checked

    async def _require_archived(self) -> None:
        database = await Database.open(self._url, size=1, application="benchmark")
        ledger, sample = LedgerReader(database), self._archived
        for read in (ledger.detail(seed.SPACE, sample.invocation), ledger.trace(seed.SPACE, sample.trace)):
            try:
                await read
            except Archived:
                continue
            raise RuntimeError("a read of a detached month does not say so")
        await database.close()

    def _report(self, commands: Mapping[str, Command], gib: float) -> Report:
        first, full, _ = self._columns
        rows: list[Mapping[str, Figure]] = [
            {"what": what, **{name: column[what] for name, column in self._columns.items()}}
            for what in self._columns[first]
        ]
        empty = dict.fromkeys(self._columns, "")
        for name, command in commands.items():
            for part, figure in _parts(command).items():
                rows.append({"what": f"{name}, {part}", **empty, full: figure})
        month = commands["export"].said
        return Report(
            "growth",
            f"CPU ms of reader and store where nothing else is said; {MONTHS} months, {gib:.1f} GiB in the end;"
            f" the month that was put away has {month['events']:,} events, {self._file_bytes / _GIB:.2f} GiB as a file",
            rows,
            _targets(self._columns[first], self._columns[full], list(commands.values())),
        )


def _parts(command: Command) -> dict[str, Figure]:
    return {
        "s": round(command.seconds),
        "CPU s": round(command.cpu_seconds),
        "most MiB": round(command.peak_mib),
        "longest write beside it": command.max_write_ms,
    }


def _targets(first: Mapping[str, float], full: Mapping[str, float], commands: Sequence[Command]) -> dict[str, bool]:
    write, reads_of = "write among 64, store µs", [name for name in first if _is_read(name)]
    slower = {name for name in reads_of if full[name] > max(first[name] * LIMIT_READ, first[name] + SMALL_MILLIS)}
    held, peak = max(one.max_write_ms for one in commands), max(one.peak_mib for one in commands)
    return {
        f"a write costs less than {LIMIT_GROWTH} times as much": full[write] / first[write] < LIMIT_GROWTH,
        f"no read costs more than {LIMIT_READ} times as much and {SMALL_MILLIS:.0f} ms more": not slower,
        f"the check of an event takes less than {LIMIT_GROWTH} times as much": full[_EACH] / first[_EACH]
        < LIMIT_GROWTH,
        f"no command needs more than {LIMIT_MIB:.0f} MiB": max(peak, full["check of all, most MiB"]) <= LIMIT_MIB,
        f"no call is held up for more than {LIMIT_HELD_MILLIS:.0f} ms": held <= LIMIT_HELD_MILLIS,
    }


def _is_read(name: str) -> bool:
    return name.startswith(("list", "Traces", "figures", "an id", "a Trace", "the newest head", "the feed"))


def _tell(text: str) -> None:
    """It takes long, so that whoever waits sees where it is."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()
