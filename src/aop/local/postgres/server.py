"""One embedded PostgreSQL server: started on a free loopback port, ready before use, stopped with its owner."""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

import asyncpg

from aop.local.ports import any_free_port
from aop.local.postgres.account import Account, find_account
from aop.local.postgres.binaries import Binaries, find_binaries
from aop.local.postgres.cluster import ENVIRONMENT, SUPERUSER, Cluster
from aop.local.problems import PostgresUnusable
from aop.local.unit import SupervisedUnit
from aop.processes.child import Child, Launch, describe_exit

START_SECONDS = 60.0
STOP_SECONDS = 5.0
_MAX_PAUSE_SECONDS = 2.0
_POLL_SECONDS = 0.01
"""Everything waits for it, and a full disk, which ends it, may have room at any moment."""

# Durability stays at PostgreSQL's defaults. Nothing a statement or its parameters hold may reach the log.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_statement": "none",
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
    "logging_collector": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# The longest path a socket address holds, less the name PostgreSQL appends.
_SOCKET_PATH_LIMIT = 100 - len("/.s.PGSQL.65535.lock")


@dataclass(frozen=True, slots=True)
class Login:
    """A role that may connect, and the groups it is a member of."""

    name: str
    password: str = field(repr=False)
    groups: Sequence[str] = ()


class EmbeddedPostgres:
    """`async with` runs it here; `prepare` and `unit` let a supervisor run it instead."""

    def __init__(
        self,
        home: Path,
        log_path: Path,
        *,
        bin_directory: Path | None = None,
        settings: Mapping[str, str] | None = None,
        account: Account | None = None,
    ) -> None:
        self._home = home.absolute()
        self._log_path = log_path
        self._bin_directory = bin_directory
        self._settings = _SETTINGS | dict(settings or {})
        self._chosen_account = account
        self._child: Child | None = None
        self.port = 0

    async def prepare(self) -> None:
        """Finds the programs, creates the cluster once, removes the lock of a dead server, picks a port."""
        self._account: Account = self._chosen_account or find_account()
        try:
            self._cluster = Cluster.at(self._home, self._account)
            major = self._cluster.major
            self._binaries: Binaries = find_binaries(self._bin_directory, major, self._account)
            if major is None:
                await self._cluster.make(self._binaries, durable=self._settings.get("fsync") != "off")
            self._cluster.take_ownership()
            await self._cluster.clear_traces()
        except OSError as problem:
            raise PostgresUnusable(f"{self._home} cannot hold the database: {problem.strerror}") from problem
        self.port = any_free_port()

    def launch(self) -> Launch:
        settings = self._settings | {"port": str(self.port), "unix_socket_directories": self._socket_folder or ""}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = (self._binaries.program("postgres"), "-D", str(self._cluster.files), *options)
        return Launch((*self._account.prefix, *command), ENVIRONMENT, signal.SIGINT, self._account.user)

    def unit(self) -> SupervisedUnit:
        """For a supervisor to run, after `prepare`."""
        return SupervisedUnit(
            name="postgres",
            launch=self.launch(),
            ready=self.is_ready,
            stop_signal=signal.SIGINT,
            forced_signal=signal.SIGQUIT,
            stop_seconds=STOP_SECONDS,
            max_pause_seconds=_MAX_PAUSE_SECONDS,
            visible=False,
        )

    async def is_ready(self, pid: int) -> bool:
        return self._cluster.is_ready(pid)

    def url(self, *, database: str, user: str = SUPERUSER, password: str | None = None) -> str:
        return f"postgresql://{self._login(user, password)}@127.0.0.1:{self.port}/{quote(database, safe='')}"

    def near_url(self, *, database: str, user: str = SUPERUSER, password: str | None = None) -> str:
        """By its unix socket, which takes less time than its port; by that where the path is too long for a socket."""
        if self._socket_folder is None:
            return self.url(database=database, user=user, password=password)
        place = urlencode({"host": self._socket_folder, "port": self.port})
        return f"postgresql://{self._login(user, password)}@/{quote(database, safe='')}?{place}"

    def _login(self, user: str, password: str | None) -> str:
        secret = self._cluster.password if password is None else password
        return f"{quote(user, safe='')}:{quote(secret, safe='')}"

    @property
    def _socket_folder(self) -> str | None:
        folder = str(self._cluster.socket_folder)
        return folder if len(os.fsencode(folder)) <= _SOCKET_PATH_LIMIT else None

    async def create_database(self, name: str, *, owner: str, groups: Sequence[str], logins: Sequence[Login]) -> None:
        """Makes what is missing and gives every login its password again; repeating it changes nothing else."""
        connection = await asyncpg.connect(self.url(database="postgres"), timeout=10)
        try:
            for group in groups:
                await _ensure_role(connection, group, "NOLOGIN")
            for login in logins:
                await _ensure_role(connection, login.name, "LOGIN")
                await _execute(connection, "ALTER ROLE %I PASSWORD %L", login.name, login.password)
                for group in login.groups:
                    await _execute(connection, "GRANT %I TO %I", group, login.name)
            if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name):
                await _execute(connection, "CREATE DATABASE %I OWNER %I", name, owner)
        finally:
            await connection.close()

    async def __aenter__(self) -> "EmbeddedPostgres":
        await self.prepare()
        with self._log_path.open("ab") as log:
            child = self._child = await Child.start(self.launch(), log)
        is_ready = False
        try:
            is_ready = await child.becomes_ready(lambda: self.is_ready(child.pid), _POLL_SECONDS, START_SECONDS)
        finally:
            code = child.exit_code
            if not is_ready:
                await self.stop()
        if not is_ready:
            late = f"not ready within {START_SECONDS:.0f} s"
            raise PostgresUnusable(self._why(late if code is None else describe_exit(code)))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        if self._child is not None:
            await self._child.stop(signal.SIGINT, STOP_SECONDS, signal.SIGQUIT)

    @property
    def pid(self) -> int:
        if self._child is None:
            raise RuntimeError("the server was not started here")
        return self._child.pid

    def _why(self, reason: str) -> str:
        last = self._log_path.read_text(errors="replace").splitlines()[-5:]
        return f"PostgreSQL did not start ({reason}):\n  " + "\n  ".join(last)


async def _ensure_role(connection: asyncpg.Connection, name: str, kind: str) -> None:
    if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", name):
        await _execute(connection, f"CREATE ROLE %I {kind}", name)


async def _execute(connection: asyncpg.Connection, template: str, *values: str) -> None:
    """Runs a statement that takes no parameters, with names and texts quoted by the server."""
    await connection.execute(
        await connection.fetchval("SELECT format($1, VARIADIC $2::text[])", template, list(values))
    )
