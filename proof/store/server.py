"""A PostgreSQL of the proof's own, always on one port: killed, frozen, stalled, restarted and filled up."""

import asyncio
import logging
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aop.local.ports import any_free_port
from aop.local.postgres import EmbeddedPostgres
from tests.support.postgres import PostgresForTests
from tests.support.processes import is_alive
from tests.support.stalls import signal_all
from tests.support.volumes import filled, mount, unmount

# Acknowledged is durable against a death of the server; the machine itself stays up, so nothing waits for the disk.
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "on",
    "track_commit_timestamp": "on",
    "max_connections": "80",
    "log_statement": "none",
}
_VOLUME_BYTES = {"data": "160m", "wal": "112m"}


class _OnPort(EmbeddedPostgres):
    """`wal` is where its log of changes goes, when it has a volume of its own."""

    fixed_port: int
    wal: Path | None = None

    async def prepare(self) -> None:
        await super().prepare()
        self.port = self.fixed_port
        files = self._cluster.files
        if self.wal is not None and not (files / "pg_wal").is_symlink():
            place = self.wal / "pg_wal"
            shutil.move(files / "pg_wal", place)
            (files / "pg_wal").symlink_to(place)
            for path in (self.wal, place, *place.rglob("*")):
                os.chown(path, self._account.owner, self._account.owner)


@dataclass
class StoreServer:
    """`volumes` hold the data and its log when they could be mounted; else neither can be filled up."""

    folder: Path
    volumes: dict[str, Path]
    port: int
    running: EmbeddedPostgres | None = None

    async def start(self) -> None:
        home = self.volumes.get("data", self.folder) / "postgres"
        server = _OnPort(home, self.folder / "postgres.log", settings=_SETTINGS)
        server.fixed_port, server.wal = self.port, self.volumes.get("wal")
        self.running = await server.__aenter__()

    async def stop(self) -> None:
        """Fast: every client gets to know."""
        if self.running is not None:
            await self.running.stop()

    async def start_again(self) -> None:
        """Also when it gave up by itself."""
        with suppress(Exception):
            await self.stop()
        await self.start()

    def is_running(self) -> bool:
        return self.running is not None and is_alive(self.running.pid)

    def processes(self) -> list[int]:
        assert self.running is not None
        pid = self.running.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def kill(self) -> None:
        assert self.running is not None
        os.kill(self.running.pid, signal.SIGKILL)

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[None]:
        stopped = self.processes()
        signal_all(signal.SIGSTOP, *stopped)
        try:
            yield
        finally:
            signal_all(signal.SIGCONT, *stopped)

    def full(self, volume: str) -> AbstractContextManager[int]:
        return filled(self.volumes[volume])


@asynccontextmanager
async def store_server(folder: Path) -> AsyncIterator[tuple[StoreServer, PostgresForTests]]:
    """Started, with the logins of the platform."""
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)  # that the store is gone is the point, and no news
    volumes = _mounted(folder)
    made = StoreServer(folder, volumes, any_free_port())
    try:
        await made.start()
        assert made.running is not None
        ready = PostgresForTests(made.running, asyncio.get_running_loop())
        await ready.prepare()
        yield made, ready
    finally:
        with suppress(Exception):
            await made.stop()
        for place in volumes.values():
            unmount(place)


def _mounted(folder: Path) -> dict[str, Path]:
    """Small volumes of memory; none where mounting is not allowed."""
    volumes: dict[str, Path] = {}
    for name, size in _VOLUME_BYTES.items():
        if not mount(folder / name, size):
            break
        volumes[name] = folder / name
    return volumes
