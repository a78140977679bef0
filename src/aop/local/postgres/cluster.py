"""The files of one embedded database: created once, owned by the server's user, without the lock of a dead server."""

import asyncio
import os
import secrets
import shutil
import signal
from hashlib import sha256
from pathlib import Path

from aop.base.durable_files import write_whole
from aop.local.postgres.account import Account
from aop.local.postgres.binaries import Binaries
from aop.local.problems import PostgresUnusable
from aop.processes.child import Child, Launch

SUPERUSER = "aop_local"
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}
"""The whole environment of the server, so that no PG… variable changes it."""

_INITDB_SECONDS = 120
_OLD_SERVER_SECONDS = 15.0
_READY_LINE = 7


class Cluster:
    """`home` holds the cluster itself, the superuser's password and the socket folder."""

    def __init__(self, home: Path, account: Account) -> None:
        self.home = home
        self._account = account

    @classmethod
    def at(cls, home: Path, account: Account) -> "Cluster":
        """At `home`, or, when the server's user cannot reach that place, behind a link from it."""
        if home.is_symlink():
            return cls(home.resolve(), account)
        home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account.user is not None:
            home.parent.chmod(0o711)  # passable, not readable; what else lies there is private by its own mode
        if account.reaches(home.parent):
            return cls(home, account)
        elsewhere = account.shared_place / f"cluster-{sha256(str(home).encode()).hexdigest()[:16]}"
        elsewhere.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        home.symlink_to(elsewhere)
        return cls(elsewhere, account)

    @property
    def files(self) -> Path:
        return self.home / "cluster"

    @property
    def socket_folder(self) -> Path:
        return self.home / "run"

    @property
    def major(self) -> int | None:
        """The version that made the cluster; None before there is a whole one."""
        try:
            return int((self.files / "PG_VERSION").read_text()) if (self.home / "made").exists() else None
        except (OSError, ValueError):
            return None

    @property
    def password(self) -> str:
        return (self.home / "superuser").read_text()

    async def make(self, binaries: Binaries, *, durable: bool) -> None:
        """A mark is written last, so that an interrupted attempt starts again."""
        if self.files.exists():
            shutil.rmtree(self.files)
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self.home / "superuser", secrets.token_urlsafe(24).encode(), 0o600)
        self.take_ownership()
        form = ("--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", "--data-checksums")
        who = (f"--username={SUPERUSER}", f"--pwfile={self.home / 'superuser'}")
        sync = () if durable else ("--no-sync",)
        await self._run(binaries.program("initdb"), f"--pgdata={self.files}", *form, *who, *sync)
        write_whole(self.home / "made", b"")

    def take_ownership(self) -> None:
        """Makes everything the server's user's own: an earlier start may have used another one."""
        self.socket_folder.mkdir(mode=0o700, exist_ok=True)
        owner = self._account.owner
        kept = (path for path in (self.home, self.files) if path.exists())
        if os.geteuid() != 0 or all(path.stat().st_uid == owner for path in kept):
            return
        for folder, _, names in os.walk(self.home):
            for path in (Path(folder), *(Path(folder, name) for name in names)):
                os.chown(path, owner, owner, follow_symlinks=False)

    async def clear_traces(self, seconds: float = _OLD_SERVER_SECONDS) -> None:
        """Waits for a server that is still ending, and removes the lock file of one that is gone.

        PostgreSQL trusts any living process with the noted id, which after a restart of the machine may be anyone's.
        """
        noted = self._noted()
        if not noted:
            return
        try:
            async with asyncio.timeout(seconds):
                while _serves(int(noted[0]), self.files):  # noqa: ASYNC110  another process's end is no event here
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise PostgresUnusable(f"another PostgreSQL (process {noted[0]}) still uses {self.files}") from None
        (self.files / "postmaster.pid").unlink(missing_ok=True)

    def is_ready(self, pid: int) -> bool:
        noted = self._noted()
        return len(noted) > _READY_LINE and noted[0] == str(pid) and noted[_READY_LINE].strip() == "ready"

    def _noted(self) -> list[str]:
        try:
            lines = (self.files / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []
        return lines if lines and lines[0].isdigit() else []

    async def _run(self, *command: str) -> None:
        launch = Launch((*self._account.prefix, *command), ENVIRONMENT, user=self._account.user)
        child = await Child.start(launch)
        try:
            async with asyncio.timeout(_INITDB_SECONDS):
                output = b"" if child.output is None else await child.output.read()
                code = await child.wait()
        except TimeoutError:
            raise PostgresUnusable(f"{Path(command[0]).name} did not end within {_INITDB_SECONDS} s") from None
        finally:
            child.send(signal.SIGKILL)
            await child.wait()
        if code:
            last = output.decode(errors="replace").strip().splitlines()[-5:]
            raise PostgresUnusable("PostgreSQL could not make its database:\n  " + "\n  ".join(last))


def _serves(pid: int, files: Path) -> bool:
    """Whether that process is a PostgreSQL server on these files; it works inside them."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # somebody else's process by now; ours is ours
    try:
        return Path(f"/proc/{pid}/cwd").resolve(strict=True) == files.resolve()
    except OSError:
        return not Path("/proc/self").exists()
