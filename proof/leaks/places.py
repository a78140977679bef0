"""The canaries of one run, and everywhere one could stay: what is written, kept and shown."""

import os
import re
import subprocess
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from proof.record import CallResult
from proof.world import World
from tests.support.canaries import spellings
from tests.support.collector import OtlpCollector
from tests.support.postgres import session

_MARKED = "a marked canary"
_WHAT_FOR = re.compile(rb"\.([a-z-]+)\.([a-z-]+)\.")
_ALL_AND_WHERE = ("--text", "--byte-offset", "--only-matching", "--fixed-strings")
_PLAIN = {"LC_ALL": "C", "PATH": os.defpath}
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


class Channel(StrEnum):
    """How something confidential enters; the platform makes the later ones itself."""

    INPUT = "input"
    RESULT = "result"
    CHUNK = "chunk"
    ERROR_TEXT = "error-text"
    HEADER = "header"
    ADDRESS = "address"
    ACCESS_TOKEN = "access-token"
    SIGN_IN_CODE = "sign-in-code"
    SERVICE_TOKEN = "service-token"
    PROOF = "proof"
    SIGNING_KEY = "signing-key"
    CREDENTIAL = "credential"
    DELEGATION = "delegation"
    DATABASE_PASSWORD = "database-password"


@dataclass
class Canaries:
    """Marked ones by what they are for; `values` are those the platform or the run made, each under its channel."""

    mark: str
    values: dict[str, tuple[Channel, str]] = field(default_factory=dict)

    def of(self, channel: Channel, provocation: str) -> str:
        return f"{self.mark}.{channel}.{provocation}."

    def add(self, channel: Channel, what: str, value: str) -> None:
        self.values[what] = channel, value

    def search(self, places: Sequence[tuple[str, bytes]]) -> set[tuple[str, str]]:
        """Which canary is in which place: of a marked one the channel and provocation, where they can be read."""
        starts, whole = [0], b"\n".join(content for _, content in places)
        for _, content in places:
            starts.append(starts[-1] + len(content) + 1)
        return {
            (self._named(at, spelling, whole), places[bisect_right(starts, at) - 1][0])
            for at, spelling in occurrences(self._meanings, whole)
        }

    def _named(self, at: int, spelling: bytes, content: bytes) -> str:
        what = self._meanings[spelling]
        named = _WHAT_FOR.match(content, at + len(spelling)) if what == _MARKED else None
        return what if named is None else b" of ".join(named.groups()).decode()

    @cached_property
    def _meanings(self) -> Mapping[bytes, str]:
        """Made at the first search, when all canaries are known."""
        secrets = {_MARKED: self.mark} | {what: value for what, (_, value) in self.values.items()}
        return {spelling.encode(): what for what, value in secrets.items() for spelling in spellings(value)}


def occurrences(needles: Iterable[bytes], content: bytes) -> Iterator[tuple[int, bytes]]:
    """Where any of many needles, none with a line end in it, is: by grep, which looks for all of them in one pass."""
    patterns = os.memfd_create("needles")
    try:
        os.write(patterns, b"\n".join(needles))
        command = ["grep", *_ALL_AND_WHERE, f"--file=/dev/fd/{patterns}"]
        found = subprocess.run(
            command, input=content, capture_output=True, check=False, pass_fds=[patterns], env=_PLAIN
        )
    finally:
        os.close(patterns)
    if found.returncode > 1:
        raise OSError(found.stderr.decode())
    for line in found.stdout.splitlines():
        at, _, needle = line.partition(b":")
        yield int(at), needle


@dataclass(frozen=True)
class Places:
    """`log` is that of the PostgreSQL server, and `log_begins` where it was when the run began."""

    made: World
    collector: OtlpCollector
    cluster: Path
    log: Path
    log_begins: int
    began: float = field(default_factory=time.time)

    async def all(self, results: Sequence[CallResult]) -> list[tuple[str, bytes]]:
        """Each with what is in it."""
        return [place async for place in self._each(results)]

    async def _each(self, results: Sequence[CallResult]) -> AsyncIterator[tuple[str, bytes]]:
        for unit in self.made.units:
            yield f"log of {unit.log.stem}", unit.log.read_bytes()
            yield f"metrics of {unit.log.stem}", (await unit.unit.get("/metrics")).body
        yield "PostgreSQL's log", self.log.read_bytes()[self.log_begins :]
        async for place in self._stored():
            yield place
        yield "telemetry", b"\n".join(self.collector.bodies)
        yield "error bodies", b"\n".join(one.body for one in results if one.status and one.status >= 400)
        yield "in-band errors", b"\n".join(repr(event.get("error")).encode() for one in results for event in one.events)
        yield "process list", b"\n".join(_command_lines())
        for path in sorted(self.made.folder.rglob("*")):
            if path.is_file() and path.suffix != ".log":
                yield f"file {path.name}", path.read_bytes()

    async def _stored(self) -> AsyncIterator[tuple[str, bytes]]:
        async with session(self.made.ledger.superuser) as connection:
            await connection.execute("CHECKPOINT")
            for table in await connection.fetch(_TABLES, list(_SCHEMAS)):
                rows = await connection.fetch(f"SELECT t::text AS content FROM {table['name']} AS t")
                yield f"table {table['name']}", "\n".join(row["content"] for row in rows).encode()
            activity = await connection.fetch("SELECT a::text AS content FROM pg_stat_activity AS a")
            yield "pg_stat_activity", "\n".join(row["content"] for row in activity).encode()
            oid = await connection.fetchval("SELECT oid FROM pg_database WHERE datname = current_database()")
        for path in sorted((self.cluster / "base" / str(oid)).iterdir()):
            yield f"data file {path.name}", path.read_bytes()
        for folder in ("pg_wal", "global", "pg_stat", "pg_xact"):
            for path in sorted((self.cluster / folder).iterdir()):
                if path.is_file() and path.stat().st_mtime >= self.began:
                    yield f"{folder}/{path.name}", path.read_bytes()


def _command_lines() -> Iterator[bytes]:
    """Of every process. Environments are left out: settings come in by them, and only the same user can read them."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()
