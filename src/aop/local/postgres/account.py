"""The user that PostgreSQL runs as: it refuses uid 0, and initdb refuses a uid without a name."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from aop.local.problems import PostgresUnusable

NOBODY = 65534
_TRIAL_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Account:
    """`prefix` goes before the command; `user` is the uid to change to. Neither: this very user."""

    prefix: tuple[str, ...] = ()
    user: int | None = None
    shared_place: Path = Path("/var/lib/aop")
    """Where root keeps what this account must reach and cannot reach elsewhere."""

    @property
    def owner(self) -> int:
        """The uid, seen from here, that owns the files of the server."""
        return os.geteuid() if self.user is None else self.user

    def reaches(self, path: Path) -> bool:
        return self.can("test", "-x", str(path))

    def can(self, *command: str) -> bool:
        try:
            trial = subprocess.run(  # noqa: S603
                [*self.prefix, *command],
                check=False,
                capture_output=True,
                timeout=_TRIAL_SECONDS,
                user=self.user,
                group=self.user,
                extra_groups=None if self.user is None else [],
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return trial.returncode == 0


def find_account() -> Account:
    """This user where PostgreSQL accepts it, else this user under another number, else (root only) `nobody`."""
    user = os.geteuid()
    if user != 0 and _has_name(user):
        return Account()
    mapped = _mapped_account()
    if mapped is not None:
        return mapped
    if user == 0:
        return Account(user=NOBODY)
    raise PostgresUnusable(
        f"PostgreSQL needs a user name, but uid {user} has none: give it one, or set PLATFORM_DATABASE_URL,"
        " PLATFORM_ROUTER_DATABASE_URL and PLATFORM_MIGRATION_DATABASE_URL to use another server"
    )


def _mapped_account() -> Account | None:
    """A user namespace in which we carry a named, unprivileged number; files stay ours. Not allowed everywhere."""
    unshare = shutil.which("unshare")
    number = next(
        (uid for uid in (NOBODY, *(entry.pw_uid for entry in pwd.getpwall())) if uid != 0 and _has_name(uid)), None
    )
    if unshare is None or number is None:
        return None
    account = Account(prefix=(unshare, "--user", f"--map-user={number}", f"--map-group={number}", "--"))
    return account if account.can("true") else None


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True
