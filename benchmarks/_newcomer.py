"""An ordinary user at a terminal, with an empty home folder: runs commands and notes how long each was silent."""

import fcntl
import os
import pty
import pwd
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PATIENCE_SECONDS = 150.0
_PASSED_ON = re.compile(
    r"(PIP|UV|NPM_CONFIG|SSL_CERT|NODE_EXTRA_CA|REQUESTS_CA|HTTPS?_PROXY|NO_PROXY)\w*", re.IGNORECASE
)
"""What leads to the package indexes of this machine: without it a newcomer here has none."""
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_POLL_SECONDS = 0.05


class StepFailed(Exception):
    """A command of the newcomer failed, or took longer than anybody waits."""


class Silence(NamedTuple):
    seconds: float
    after: str
    """The last line before it."""


class Running:
    """One command at a terminal of its own. Silence counts until somebody says `answered`, or until its end."""

    def __init__(self, command: Sequence[str], folder: Path, environment: dict[str, str], user: str | None) -> None:
        self.command = " ".join(command)
        self.max_silence = Silence(0.0, "")
        self._seen = bytearray()
        self._last = time.monotonic()
        self._counts = True
        self._terminal, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        account = {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=environment,
                stdin=side,
                stdout=side,
                stderr=side,
                start_new_session=True,
                **account,  # type: ignore[call-overload]  # the three go together
            )
        finally:
            os.close(side)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return _STYLE.sub("", self._seen.decode(errors="replace"))

    def wait(self) -> str:
        """For its end, which has to be a good one."""
        try:
            code = self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise self._failed("did not end") from None
        self._reader.join(PATIENCE_SECONDS)
        self._note()
        if code:
            raise self._failed(f"ended with {code}")
        return self.output

    def wait_until(self, answered: Callable[[], bool]) -> None:
        """For something that shows while it goes on."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not answered():
            if self._process.poll() is not None:
                raise self._failed("ended")
            if time.monotonic() > deadline:
                raise self._failed("was waited for in vain")
            time.sleep(_POLL_SECONDS)
        self._note()
        self._counts = False

    def stop(self) -> None:
        """As Ctrl-C does."""
        self._counts = False
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self) -> None:
        with suppress(OSError):  # the terminal is gone with the last process that had it
            while piece := os.read(self._terminal, 65536):
                self._note()
                self._seen.extend(piece)
        os.close(self._terminal)

    def _note(self) -> None:
        now = time.monotonic()
        if self._counts and now - self._last > self.max_silence.seconds:
            lines = [line.strip() for line in self.output.splitlines() if line.strip()]
            self.max_silence = Silence(now - self._last, f"{self.command[:60]}: {lines[-1] if lines else ''}"[:160])
        self._last = now

    def _failed(self, how: str) -> StepFailed:
        return StepFailed(f"{self.command} {how}:\n{self.output[-3000:]}")


class Newcomer:
    """`folder` is where the commands are typed."""

    def __init__(self, home: Path, user: str | None) -> None:
        self.home = self.folder = home
        self._user = user
        inherited = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}  # noqa: TID251
        path = os.pathsep.join([str(home / ".local" / "bin"), os.defpath])
        self._environment = inherited | {"HOME": str(home), "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._commands: list[Running] = []

    def run(self, *command: str) -> str:
        return self.start(*command).wait()

    def start(self, *command: str) -> Running:
        self._commands.append(Running(command, self.folder, self._environment, self._user))
        return self._commands[-1]

    def own(self, path: Path) -> None:
        """Gives the newcomer what was put into the home folder beforehand."""
        if self._user is None:
            return
        account = pwd.getpwnam(self._user)
        for each in (path, *path.rglob("*")):
            os.chown(each, account.pw_uid, account.pw_gid, follow_symlinks=False)

    def max_silence(self) -> Silence:
        return max((one.max_silence for one in self._commands), default=Silence(0.0, ""))

    def stop_all(self) -> None:
        for one in reversed(self._commands):
            one.stop()


@contextmanager
def newcomer(user: str) -> Iterator[Newcomer]:
    """The folder is short, because a socket of PostgreSQL lies below it, and it is removed at the end."""
    try:
        account = pwd.getpwnam(user)
    except KeyError:
        raise StepFailed(f"there is no user {user}; make one, as root: useradd {user}") from None
    if os.geteuid() not in (0, account.pw_uid):
        raise StepFailed(f"run this as root, or as {user}")
    home = Path(tempfile.mkdtemp(prefix="new-", dir="/var/tmp"))
    somebody = Newcomer(home, user if os.geteuid() != account.pw_uid else None)
    try:
        somebody.own(home)
        yield somebody
    finally:
        somebody.stop_all()
        shutil.rmtree(home, ignore_errors=True)
