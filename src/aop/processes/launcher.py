"""The program that becomes a child of the supervisor: it runs as a file and imports nothing of aop.

Arguments: parent process id, death signal, user id or -1, descriptors of listening sockets with commas between them or
-, then the command. The death signal is asked for after the change of user, which would clear it; a parent that died
before that moment is noticed by its process id. Sockets are handed on as systemd does it: descriptors from 3 on,
LISTEN_FDS and LISTEN_PID.
"""

import fcntl
import os
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_FIRST_HANDED_ON = 3


def _death_signal_request() -> Callable[[int], object]:
    """Looked up before the change of user, which may put the interpreter's own files out of reach."""
    if sys.platform != "linux":
        return lambda _: None
    import ctypes  # noqa: PLC0415  not needed, and not always there, elsewhere

    prctl = ctypes.CDLL(None).prctl
    return lambda number: prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def _main(arguments: list[str]) -> None:
    parent, death_signal, user = (int(text) for text in arguments[:3])
    listeners = [int(text) for text in arguments[3].split(",") if text != "-"]
    command = arguments[4:]
    die_with_parent = _death_signal_request()
    if user >= 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    die_with_parent(death_signal)
    if os.getppid() != parent:
        sys.exit(f"process {parent} is gone")
    if listeners:
        _pass_on(listeners)
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as problem:
        sys.exit(f"cannot run {command[0]}: {problem.strerror}")


def _pass_on(listeners: list[int]) -> None:
    # First out of the way: the place of one may be where another one is now.
    end = _FIRST_HANDED_ON + len(listeners)
    moved = [fcntl.fcntl(listener, fcntl.F_DUPFD, end) for listener in listeners]
    for listener in listeners:
        os.close(listener)
    for place, listener in enumerate(moved, _FIRST_HANDED_ON):
        os.dup2(listener, place)
        os.close(listener)
    # The process id stays the same when the command takes the place of this program.
    os.environ.update(LISTEN_FDS=str(len(listeners)), LISTEN_PID=str(os.getpid()))  # noqa: TID251


if __name__ == "__main__":
    _main(sys.argv[1:])
