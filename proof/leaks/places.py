"""Everywhere a canary could stay: what the units and PostgreSQL wrote, keep, show and were started with."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from proof.record import Told
from proof.world import World
from tests.support.collector import OtlpCollector

LOGGING = {
    "log_statement": "all",
    "log_duration": "on",
    "log_min_error_statement": "debug5",
    "log_min_messages": "debug1",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_error_verbosity": "verbose",
}
"""What an operator who wants to see everything would set."""
_SCHEMAS = ("registry", "workspace", "gateway", "ledger")
_TABLES = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1"


@dataclass(frozen=True)
class StoreFiles:
    """The server's own files: where its log was when the run began, and what it keeps."""

    cluster: Path
    log: Path
    log_begins: int
    database: str
    began: float

    def logged(self) -> bytes:
        with self.log.open("rb") as file:
            file.seek(self.log_begins)
            return file.read()

    def kept(self, oid: int) -> Iterator[tuple[str, bytes]]:
        for path in sorted((self.cluster / "base" / str(oid)).iterdir()):
            yield f"data file {path.name}", path.read_bytes()
        for folder in ("pg_wal", "global", "pg_stat", "pg_xact"):
            recent = [path for path in sorted((self.cluster / folder).iterdir()) if path.is_file()]
            for path in recent:
                if path.stat().st_mtime >= self.began:
                    yield f"{folder}/{path.name}", path.read_bytes()


@dataclass(frozen=True)
class Places:
    made: World
    store: StoreFiles
    collector: OtlpCollector

    async def all(self, told: Sequence[Told]) -> list[tuple[str, bytes]]:
        """Each with what is in it."""
        return [place async for place in self._each(told)]

    async def _each(self, told: Sequence[Told]) -> AsyncIterator[tuple[str, bytes]]:
        for unit in self.made.units:
            yield f"log of {unit.log.stem}", unit.log.read_bytes()
            yield f"metrics of {unit.log.stem}", (await unit.unit.get("/metrics")).body
        yield "PostgreSQL's log", self.store.logged()
        async for place in self._stored():
            yield place
        yield "telemetry", b"\n".join(self.collector.bodies)
        yield "error bodies", b"\n".join(one.body for one in told if one.status and one.status >= 400)
        yield "in-band errors", b"\n".join(repr(event.get("error")).encode() for one in told for event in one.events)
        yield "process list", b"\n".join(command_lines())
        for path in sorted(self.made.folder.rglob("*")):
            if path.is_file() and path.suffix != ".log":
                yield f"file {path.name}", path.read_bytes()

    async def _stored(self) -> AsyncIterator[tuple[str, bytes]]:
        connection = await asyncpg.connect(self.made.ledger.superuser)
        try:
            await connection.execute("CHECKPOINT")
            for table in await connection.fetch(_TABLES, list(_SCHEMAS)):
                rows = await connection.fetch(f"SELECT t::text AS content FROM {table['name']} AS t")
                yield f"table {table['name']}", "\n".join(row["content"] for row in rows).encode()
            activity = await connection.fetch("SELECT a::text AS content FROM pg_stat_activity AS a")
            yield "pg_stat_activity", "\n".join(row["content"] for row in activity).encode()
            oid = await connection.fetchval("SELECT oid FROM pg_database WHERE datname = current_database()")
        finally:
            await connection.close()
        for place in self.store.kept(oid):
            yield place


def command_lines() -> Iterator[bytes]:
    """Of every process. Environments are left out: settings come in by them, and only the same user can read them."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                yield Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
