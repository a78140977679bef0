"""The data folder of a local platform: its lock, its private files, and the record of what runs there."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from aop.base.durable_files import write_whole
from aop.base.file_locks import try_lock
from aop.local.problems import DataFolderBusy, DataFolderUnusable, NotRunning

T = TypeVar("T")

DEFAULT_FOLDER = Path(".aop")
_LOCK = "lock"
_RUN = "run.json"
_LOCK_TRIES = 5
_LOCK_PAUSE_SECONDS = 0.02
_WRITE_AGAIN_SECONDS = 1.0


class RouterCredential(msgspec.Struct, frozen=True, rename="camel"):
    """What an Agent needs in order to verify the Router."""

    issuer: str
    key_id: str
    public_key: str


class ServiceTokens(msgspec.Struct, frozen=True, rename="camel"):
    control_plane_to_router: str
    router_to_control_plane: str

    def __repr__(self) -> str:
        return "ServiceTokens(…)"


class DatabaseUrls(msgspec.Struct, frozen=True, rename="camel"):
    control_plane: str
    router: str
    migration: str

    def __repr__(self) -> str:
        return "DatabaseUrls(…)"


class PublishedAgent(msgspec.Struct, frozen=True, rename="camel"):
    agent_id: str
    version: str
    release_id: str
    origin: str


class Run(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A running local platform; members of parts that are not running are absent."""

    gateway: str
    router: str
    console: str | None = None
    door: str | None = None
    principal: str
    token: str
    workspace_id: str | None = None
    agents: tuple[PublishedAgent, ...] | None = None
    allowed: tuple[str, ...] = ()
    """The private addresses that an Agent may have."""
    router_credential: RouterCredential
    service_tokens: ServiceTokens
    database_urls: DatabaseUrls
    pids: dict[str, int]

    def __repr__(self) -> str:
        return f"Run(gateway={self.gateway!r}, router={self.router!r}, pids={self.pids!r})"


class DataFolder:
    """Held by one `aop up` at a time; everything in it is private to its user."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: IO[str] | None = None

    def __enter__(self) -> "DataFolder":
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
            (self.path / "logs").mkdir(mode=0o700, exist_ok=True)
            # What a killed platform left goes before the lock is taken: nobody sees it beside a lock that is held.
            if not _held(self.path):
                self.forget_run()
            self._lock = _hold(self.path)
        except OSError as problem:
            raise DataFolderUnusable(f"{self.path} cannot be used as data folder: {problem.strerror}") from problem
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def read(self, name: str) -> bytes | None:
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None

    def load(self, name: str, kind: type[T], otherwise: str) -> T | None:
        """A document of this kind; `otherwise` is what a person does about a damaged one."""
        content = self.read(name)
        try:
            return None if content is None else msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError:
            raise DataFolderUnusable(f"{self.path / name} is damaged; {otherwise}") from None

    def write(self, name: str, content: bytes) -> None:
        """Whole or not at all, readable by the owner alone."""
        write_whole(self.path / name, content, 0o600)

    def record_run(self, run: Run) -> None:
        self.write(_RUN, msgspec.json.format(msgspec.json.encode(run)) + b"\n")

    def forget_run(self) -> None:
        (self.path / _RUN).unlink(missing_ok=True)


class RunRecord:
    """The record of a running platform. On a disk that is full it is written as soon as there is room again."""

    def __init__(self, folder: DataFolder, run: Run, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._run = run
        self._say = say
        self._later: asyncio.TimerHandle | None = None

    def change(self, pids: dict[str, int]) -> None:
        self._run = msgspec.structs.replace(self._run, pids=pids)
        if self._later is None:
            self._write()

    def forget(self) -> None:
        if self._later is not None:
            self._later.cancel()
        self._folder.forget_run()

    def _write(self) -> None:
        was_late, self._later = self._later is not None, None
        try:
            self._folder.record_run(self._run)
        except OSError as problem:
            self._later = asyncio.get_running_loop().call_later(_WRITE_AGAIN_SECONDS, self._write)
            if not was_late:
                self._say(f"{_RUN} cannot be written ({problem.strerror}); it is tried again until it can")
        else:
            if was_late:
                self._say(f"{_RUN} is written again")


def load_run(folder: Path) -> Run:
    """The platform running on that folder; a record left by a killed one does not count."""
    absent = NotRunning(f"no platform is running on {folder.absolute()}: start one with `aop up`")
    try:
        running = _held(folder)
        run = msgspec.json.decode((folder / _RUN).read_bytes(), type=Run)
    except FileNotFoundError:
        raise absent from None
    except (OSError, msgspec.DecodeError) as problem:
        raise NotRunning(f"{folder.absolute() / _RUN} cannot be read: {type(problem).__name__}") from problem
    if not running:
        raise absent
    return run


def _hold(folder: Path) -> IO[str]:
    lock = (folder / _LOCK).open("a+")
    if not _locked(lock):
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise DataFolderBusy(f"a platform already runs on {folder} (process {holder}); stop it first")
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def _locked(lock: IO[str]) -> bool:
    """A reader holds the lock for a moment only; a running platform keeps it."""
    for _ in range(_LOCK_TRIES):
        if try_lock(lock):
            return True
        time.sleep(_LOCK_PAUSE_SECONDS)
    return False


def _held(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open() as lock:
            return not try_lock(lock, shared=True)
    except FileNotFoundError:
        return False
