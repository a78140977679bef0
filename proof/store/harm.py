"""What can happen to the store: each fault is done, lasts, and is over when its function returns."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import asyncpg

from proof.area import Findings
from proof.fault_proxy import Direction, Pace
from proof.record import OutageAnswer
from proof.store.server import StoreServer
from proof.world import World
from tests.support.stalls import stalled_commits

_STALLED_SECONDS = 7 * 5.0
"""Seven times as long as a Ledger write may take by default."""
_NARROW = Pace(bytes_per_second=10_000, slice_bytes=1000)
_READS = ("/invocations", "/installations")
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name"


@dataclass
class Harm:
    made: World
    server: StoreServer
    found: Findings
    chance: Random
    full: bool
    outage: list[OutageAnswer] = field(default_factory=list)

    async def killed(self) -> None:
        self.server.kill()
        await self._ask_down("the store is dead")
        await asyncio.sleep(0.5)
        await self.server.start()

    async def restarted(self) -> None:
        await self.server.stop()
        await self._ask_down("the store is stopped")
        await self.server.start()

    async def one_backend(self) -> None:
        """One the Router writes with, while it writes; so many times, or as long as it takes to catch it at that."""
        caught = 0
        for _ in range(300):
            caught += len(await self.made.ledger.rows(f"{_END} = 'aop router ledger' AND state = 'active'"))
            if caught >= 3:
                break
            await asyncio.sleep(self.chance.uniform(0.01, 0.03))
        self.found.hits["a backend ended in the middle of a Ledger write"] += caught

    async def sessions_ended(self) -> None:
        """Every session of the platform, every 0.2 s, beside reads of both stores."""
        over = time.monotonic() + (30 if self.full else 3)
        while time.monotonic() < over:
            self.found.hits["a session ended"] += len(await self.made.ledger.rows(f"{_END} LIKE 'aop %'"))
            for path in _READS:
                status = (await self.made.read(path)).status
                self.found.require(status in {200, 503}, f"GET {path} while sessions end: answered {status}")
            await asyncio.sleep(0.2)

    async def frozen(self, seconds: float) -> None:
        async with self.server.frozen():
            await asyncio.sleep(seconds)

    async def stalled(self) -> None:
        """Commits wait for seven write timeouts, in backends that nobody can end."""
        async with stalled_commits(self.made.ledger.superuser) as caught:
            await asyncio.sleep(_STALLED_SECONDS)
        self.found.hits["a backend stalled in the middle of a commit"] += len(caught)

    async def paced(self, pace: Pace, seconds: float) -> None:
        for during in (pace, Pace()):
            for proxy in self.made.proxies.values():
                proxy.pace = during
            await asyncio.sleep(seconds if during is pace else 0)

    async def reset_at_random(self) -> None:
        for _ in range(10 if self.full else 6):
            way: Direction = self.chance.choice(("up", "down"))
            proxy = self.chance.choice([*self.made.proxies.values()])
            proxy.cut(way, self.chance.randrange(1, 4000))
            with suppress(TimeoutError):
                async with asyncio.timeout(2):
                    while proxy.is_armed:  # noqa: ASYNC110  what passes tells nobody
                        await asyncio.sleep(0.01)
            proxy.disarm()

    async def locked(self) -> None:
        """Longer than a Ledger write may take in a full run."""
        async with self.made.ledger.locked("event"):
            await asyncio.sleep(8 if self.full else 1.5)

    async def exhausted(self) -> None:
        """Others hold every connection, and the platform's own are ended."""
        others = list[asyncpg.Connection]()

        async def take_all() -> None:
            with suppress(asyncpg.TooManyConnectionsError):
                while True:
                    others.append(await asyncpg.connect(self.made.stores.router))

        try:
            await take_all()
            await self.made.ledger.rows(f"{_END} LIKE 'aop %'")
            await take_all()
            await asyncio.sleep(2)
        finally:
            for connection in others:
                connection.terminate()

    async def log_full(self) -> None:
        """The server cannot write its log of changes: it gives up, and is started again when there is room."""
        await self.full_volume("wal")
        await self.server.start_again()

    async def data_full(self) -> None:
        """The server goes on, unless a checkpoint falls into this time: then it gives up and is started again, too."""
        await self.full_volume("data")
        if not self.server.is_running():
            await self.server.start_again()

    async def full_volume(self, volume: str) -> None:
        if volume == "wal":
            await self.made.ledger.rows("SELECT pg_switch_wal()")
        with self.server.full(volume):
            await asyncio.sleep(3 if self.full else 1.5)

    async def _ask_down(self, when: str) -> None:
        """Reads of both stores: whatever they answer, it is not that there is nothing."""
        for path in _READS:
            reply = await self.made.read(path)
            self.outage.append(OutageAnswer(f"GET {path} while {when}", reply.status, reply.body))


@dataclass(frozen=True)
class Fault:
    """`always` in every quick run, of the others but the `long` ones some by turns.

    A fault that is `felt` makes calls fail. False is one shorter than any bound. None is one where that depends on how
    many wait, or on how long it lasts beside the bounds of a statement.
    """

    happen: Callable[[Harm], Awaitable[None]]
    felt: bool | None = True
    always: bool = False
    long: bool = False
    needs_volumes: bool = False


FAULTS: Mapping[str, Fault] = {
    "SIGKILL": Fault(Harm.killed, always=True),
    "frozen for 2 s": Fault(lambda harm: harm.frozen(2), felt=None, always=True),
    "connections reset at random bytes": Fault(Harm.reset_at_random, always=True),
    "fast restart": Fault(Harm.restarted),
    "the Router's backend ended while it writes": Fault(Harm.one_backend),
    "all sessions ended every 0.2 s": Fault(Harm.sessions_ended, always=True),
    "200 ms away": Fault(lambda harm: harm.paced(Pace(delay=0.2), 2), felt=False),
    "10 KB/s": Fault(lambda harm: harm.paced(_NARROW, 5 if harm.full else 3), felt=None),
    "a lock held on the Ledger": Fault(Harm.locked, felt=None),
    "connections exhausted": Fault(Harm.exhausted),
    "data volume full": Fault(Harm.data_full, needs_volumes=True),
    "log volume full": Fault(Harm.log_full, needs_volumes=True),
    "frozen for 20 s": Fault(lambda harm: harm.frozen(20), long=True),
    "commits stalled for seven write timeouts": Fault(Harm.stalled, long=True),
}
