"""Two real PostgreSQL servers, one following the other, as a cluster has them: promoted and frozen by tests."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from aop.local.postgres import EmbeddedPostgres
from aop.local.postgres.cluster import ENVIRONMENT
from aop.local.state import DatabaseUrls
from aop.processes.child import Child, Launch
from tests.support.postgres import PostgresForTests, session
from tests.support.stalls import signal_all
from tests.support.waiting import becomes_true

_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "on",
    "wal_level": "replica",
    "hot_standby": "on",
    "wal_receiver_status_interval": "1s",
    "max_connections": "60",
    "shared_buffers": "16MB",
}
_HERE = "127.0.0.1"


class Node(EmbeddedPostgres):
    """Ready as a standby, too."""

    async def is_ready(self, pid: int) -> bool:
        noted = self._cluster.files / "postmaster.pid"
        lines = noted.read_text().splitlines() if noted.exists() else []
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() in {"ready", "standby"}

    async def copy_of(self, leader: "Node") -> None:
        """By a base backup; afterwards it starts as a standby of the leader."""
        cluster, account = leader._cluster, leader._account
        home = self._home
        home.mkdir(mode=0o700, parents=True)
        shutil.copy(cluster.home / "superuser", home / "superuser")
        if os.geteuid() == 0:
            for path in (home, home / "superuser"):
                os.chown(path, account.owner, account.owner)
        program = leader._binaries.program("pg_basebackup")
        backup = (program, "-D", str(home / "cluster"), "-X", "stream", "-R", "-c", "fast")
        command = (*account.prefix, *backup, "-d", leader.url(database="postgres"), "--no-sync")
        child = await Child.start(Launch(command, ENVIRONMENT, user=account.user))
        said = b"" if child.output is None else await child.output.read()
        assert await child.wait() == 0, said.decode()
        (home / "made").touch()

    async def execute(self, statement: str, database: str = "postgres") -> None:
        async with session(self.url(database=database)) as connection:
            await connection.execute(statement)

    async def value(self, query: str, database: str = "postgres") -> object:
        async with session(self.url(database=database)) as connection:
            return await connection.fetchval(query)

    async def promote(self) -> None:
        assert await self.value("SELECT pg_promote(true, 30)")

    def processes(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        stopped = self.processes()
        signal_all(signal.SIGSTOP, *stopped)
        try:
            yield
        finally:
            signal_all(signal.SIGCONT, *stopped)


@dataclass(frozen=True)
class Pair:
    """The second follows the first until it is promoted. `stores` name both, the standby first."""

    first: Node
    second: Node
    stores: DatabaseUrls

    @property
    def database(self) -> str:
        return self.stores.router.partition("?")[0].rpartition("/")[2]

    def url(self, *nodes: Node) -> str:
        """The database of the platform as superuser, on these nodes."""
        return several_hosts(self.first.url(database=self.database), *nodes)

    async def require_standby(self, names: str = "*") -> None:
        """Commits of the first wait for a synchronous standby."""
        await self.first.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        await self.first.execute("SELECT pg_reload_conf()")
        await becomes_true(self._is_set)

    async def cut(self) -> None:
        """The second gets nothing more, not even what is on its way: a frozen one would still read that later."""
        await self.second.execute("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'")
        await self.second.execute("SELECT pg_reload_conf()")

        async def is_cut() -> bool:
            return not await _follows(self.first)

        await becomes_true(is_cut)

    async def _is_set(self) -> bool:
        return bool(await self.first.value("SELECT current_setting('synchronous_standby_names') <> ''"))


def several_hosts(url: str, *nodes: Node) -> str:
    login, _, rest = url.partition("@")
    database = rest.partition("/")[2]
    hosts = ",".join(f"{_HERE}:{node.port}" for node in nodes)
    return f"{login}@{hosts}/{database}?target_session_attrs=read-write"


@asynccontextmanager
async def pair_of_nodes(folder: Path) -> AsyncIterator[Pair]:
    first = Node(folder / "first", folder / "first.log", settings=_SETTINGS)
    async with first:
        ready = PostgresForTests(first, asyncio.get_running_loop())
        await ready.prepare()
        single = await ready.new_platform()
        second = Node(folder / "second", folder / "second.log", settings=_SETTINGS)
        await second.copy_of(first)
        async with second:
            await becomes_true(lambda: _follows(first))
            alone = (single.control_plane, single.router, single.migration)
            urls = [several_hosts(url, second, first) for url in alone]
            yield Pair(first, second, DatabaseUrls(*urls))


async def _follows(first: Node) -> bool:
    return bool(await first.value("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')"))
