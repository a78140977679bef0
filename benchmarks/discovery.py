"""How long a page of Discovery takes over HTTP, in catalogs of a thousand to a hundred thousand published versions.

A version has some eighty rows of words, so that a larger catalog takes longer to write than all pages to read.
"""

import asyncio
import hashlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote

import msgspec
import uvloop

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.postgres import EmbeddedPostgres
from aop.net.http import HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from aop.store import migrations
from aop.store.database import connect
from benchmarks._catalog_seed import COMMON_WORDS, OTHER_WORDS, RARE_WORD, Size, seed
from benchmarks.measure import Figure, Plot, Report, Series, peer_process

SIZES = (Size(300, 1_000), Size(3_000, 10_000), Size(30_000, 100_000))
ROUNDS = 100
LIMIT_MILLIS = {100_000: 20.0}
"""By the size of the catalog."""
LIMIT_DEPTH = 2.0
LIMIT_GROWTH = 1.1

_SERVER = {"shared_buffers": "1GB"}
"""A part of the memory as operators give it to a store of this size; the local platform's own takes 128 MB."""
_WARM_ROUNDS = 8
_DEEP_PAGE = 200
_DEEP = f"page {_DEEP_PAGE}"
_SIGN = "query, one rare sign"
_UNBOUNDED = ("first page of 100", _SIGN)
"""Signs alone have no index: their pages cost what it takes to look at every version."""
_PLOTTED = ("first page", "query, one word", "query, a misspelt word", "query, a very common word", "owner")
_AGENTS = "/v1/agents"
_SERVICE_TOKEN = "benchmark-service-token"  # noqa: S105


def _word(turn: int) -> str:
    return _WORDS[turn % len(_WORDS)]


def _misspelt(word: str) -> str:
    return f"{word[:3]}{word[4]}{word[3]}{word[5:]}"


_WORDS = [word for word in OTHER_WORDS[:300] if len(word) >= 7]
_CASES: Mapping[str, Callable[[int], str]] = {
    "first page": lambda _: "",
    "first page of 100": lambda _: "limit=100",
    "query, one word": lambda turn: f"query={_word(turn)}",
    "query, two words": lambda turn: f"query={_word(turn)}%20{COMMON_WORDS[turn % len(COMMON_WORDS)]}",
    "query, a misspelt word": lambda turn: f"query={_misspelt(_word(turn))}",
    "query, a very common word": lambda turn: f"query={COMMON_WORDS[turn % 3]}",
    "query, rare word": lambda turn: f"query={RARE_WORD[: 6 + turn % 4]}",
    "query, no such word": lambda turn: f"query=nosuchword{turn}",
    "query, two letters": lambda turn: f"query={'enaterof'[turn % 7 :][:2]}",
    _SIGN: lambda turn: f"query={quote('%_#§'[turn % 4])}",
    "capability, common": lambda turn: f"capability=skill-{turn % 20}",
    "capability, rare": lambda turn: f"capability=skill-{150 + turn % 150}",
    "owner": lambda turn: f"ownerId=vendor-{turn % 997}",
    "latest": lambda _: "latest=true",
    "latest, capability, query": lambda turn: f"latest=true&capability=skill-{turn % 60}&query=mail",
    "installable": lambda turn: f"installable={'true' if turn % 2 else 'false'}",
}
"""Name to the query string of a turn: most turns ask for something else, so that no answer is just the last one's."""


@dataclass(frozen=True)
class _Found:
    """What one catalog gave: times by case, and the unit's memory before and after."""

    size: Size
    taken: "Mapping[str, _Taken]"
    before: float
    after: float


def run() -> Report:
    return _report([uvloop.run(_run(size)) for size in SIZES])


def _report(found: Sequence[_Found]) -> Report:
    largest = found[-1]
    rows: list[Mapping[str, Figure]] = [
        {"page": name, "p50": _p50(seen.millis), "p95": _p95(seen.millis), "CPU": _p50(seen.cpu_millis)}
        for name, seen in largest.taken.items()
    ]
    depth = _p50(largest.taken[_DEEP].cpu_millis) / _p50(largest.taken["page 2"].cpu_millis)
    slowest = {each.size.versions: _slowest(each) for each in found}
    lines = [
        Series(name, [(float(each.size.versions), _p95(each.taken[name].millis)) for each in found])
        for name in _PLOTTED
    ]
    growth = Plot(
        *("growth", "A page of 25 by the size of the catalog, 95th percentile", "published versions", "ms", lines),
        logarithmic_x=True,
    )
    return Report(
        "discovery",
        f"ms per page of 25 over HTTP at {largest.size.versions:,} versions, CPU of unit and store together;"
        f" {largest.before / 1024:.0f} MB resident, then {largest.after / 1024:.0f} MB",
        rows,
        {
            **{
                f"every page of 25 takes at most {most:.0f} ms at p95 at {versions:,} versions": slowest[versions]
                <= most
                for versions, most in LIMIT_MILLIS.items()
            },
            f"page {_DEEP_PAGE} costs at most {LIMIT_DEPTH:.0f} times page 2": depth <= LIMIT_DEPTH,
            f"the unit's memory grows by less than {LIMIT_GROWTH - 1:.0%}": largest.after
            <= largest.before * LIMIT_GROWTH,
        },
        [growth],
    )


def _slowest(found: _Found) -> float:
    return max(_p95(seen.millis) for name, seen in found.taken.items() if name not in _UNBOUNDED)


async def _run(size: Size) -> _Found:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log", settings=_SERVER) as server:
            url = server.url(database="postgres")
            await migrations.migrate(url)
            await seed(url, size)
            token = (await issue_token(url, "benchmark")).token.reveal()
            with peer_process(partial(_control_plane, url)) as (pid, port):
                caller = _Caller(port, token)
                before, after, taken = await _measured(caller, pid, url)
                await caller.close()
                return _Found(size, taken, before, after)


async def _measured(caller: "_Caller", pid: int, url: str) -> tuple[float, float, "dict[str, _Taken]"]:
    second, deep = await _cursors(caller)
    cases = dict(_CASES)
    cases["page 2"] = lambda _: f"cursor={second}"
    cases[_DEEP] = lambda _: f"cursor={deep}"
    await _timed(caller, cases, _WARM_ROUNDS, [])
    before = _resident_kilobytes(pid)
    taken = await _timed(caller, cases, ROUNDS, [pid, *await _backends(url)])
    return before, _resident_kilobytes(pid), taken


async def _cursors(caller: "_Caller") -> tuple[str, str]:
    """Of page 2 and of the deep page of one traversal, or of the last one where there are fewer."""
    cursors: list[str] = []
    query = ""
    for _ in range(_DEEP_PAGE - 1):
        following = msgspec.json.decode(await caller.ask(query), type=_Page).nextCursor
        if following is None:
            break
        cursors.append(following)
        query = f"cursor={cursors[-1]}"
    return cursors[0], cursors[-1]


@dataclass
class _Taken:
    millis: list[float] = field(default_factory=list)
    cpu_millis: list[float] = field(default_factory=list)


async def _timed(
    caller: "_Caller", cases: Mapping[str, Callable[[int], str]], rounds: int, pids: Sequence[int]
) -> dict[str, _Taken]:
    """The cases take turns, so that a slow moment of the machine falls on all of them."""
    taken = {name: _Taken() for name in cases}
    for turn in range(rounds):
        for name, query in cases.items():
            busy, started = _cpu_millis(pids), time.perf_counter()
            await caller.ask(query(turn))
            taken[name].millis.append((time.perf_counter() - started) * 1000)
            taken[name].cpu_millis.append(_cpu_millis(pids) - busy)
    return taken


async def _backends(url: str) -> list[int]:
    """The store's processes that serve the unit."""
    connection = await connect(url, application="benchmark")
    rows = await connection.fetch("SELECT pid FROM pg_stat_activity WHERE application_name = 'aop control-plane'")
    await connection.close()
    return [row["pid"] for row in rows]


def _cpu_millis(pids: Sequence[int]) -> float:
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e6


def _p50(seen: list[float]) -> float:
    return statistics.median(seen)


def _p95(seen: list[float]) -> float:
    return statistics.quantiles(seen, n=20)[-1]


class _Page(msgspec.Struct):
    nextCursor: str | None = None  # noqa: N815


class _Caller:
    def __init__(self, port: int, token: str) -> None:
        self._client = HttpClient(idle_seconds=60, connect_seconds=5)
        self._target = Target("http", "127.0.0.1", port, "127.0.0.1")
        self._headers = ((b"authorization", f"Bearer {token}".encode()),)

    async def ask(self, query: str) -> bytes:
        path = f"{_AGENTS}?{query}" if query else _AGENTS
        deadline = asyncio.get_running_loop().time() + 30
        answer = await self._client.request(
            self._target, "GET", path, headers=self._headers, body=b"", deadline=deadline, max_body=64 << 20
        )
        assert answer.status == 200, answer.body
        return answer.body

    async def close(self) -> None:
        await self._client.close()


def _control_plane(url: str, report: Connection) -> None:
    uvloop.run(_serve(url, report))


async def _serve(url: str, report: Connection) -> None:
    principal = {"id": "router", "tokenSha256": hashlib.sha256(_SERVICE_TOKEN.encode()).hexdigest()}
    settings = read_control_plane_settings(
        {
            "PLATFORM_DATABASE_URL": url,
            "PLATFORM_ROUTER_INTERNAL_ORIGIN": "http://127.0.0.1:1",
            "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": _SERVICE_TOKEN,
            "PLATFORM_INTERNAL_PRINCIPALS_JSON": json.dumps([principal]),
            "PLATFORM_LOG_LEVEL": "error",
        }
    )
    unit = await build(settings)
    listener = listening_socket("127.0.0.1", 0)
    await HttpServer(unit.application).start([listener])
    report.send(listener.getsockname()[1])
    await asyncio.Event().wait()


def _resident_kilobytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
