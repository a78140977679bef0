"""A unix socket for each worker of a unit, beside the one that all of them share.

Calls that are written together share a commit, so it matters which worker they come to. Where the workers of two units
each have their own to talk to, groups are as large as with one process for each unit. A peer that finds no such socket,
or no one at it, takes the shared one.
"""

import os
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from itertools import count, takewhile

from aop.base.share import WorkerShare
from aop.net.sockets import is_answered, listening_path


def worker_path(path: str, number: int) -> str:
    return f"{path}.{number}"


def is_of_worker(path: str, shared: str) -> bool:
    """Whether the path is that of a worker beside the shared one."""
    before, _, number = path.rpartition(".")
    return before == shared and number.isdecimal()


def listening_worker_paths(path: str, workers: int) -> Sequence[socket.socket]:
    """One for each worker, in their order, for the users of the shared one. OSError when one of them cannot be
    listened on; then none is.

    What a start with more workers left behind is removed: peers count what is there.
    """
    shared = os.stat(path)
    opened = list[socket.socket]()
    try:
        for number in range(1, workers + 1):
            opened.append(listening_path(worker_path(path, number), shared))
    except OSError:
        leave_worker_paths(opened)
        raise
    with suppress(OSError):
        for left in takewhile(os.path.exists, (worker_path(path, number) for number in count(workers + 1))):
            if is_answered(left):
                break
            os.unlink(left)
    return opened


def leave_worker_paths(opened: Sequence[socket.socket]) -> None:
    """From here on peers connect to the shared one. No other process can have a path as long as it is listened on, so
    what is removed is no successor's."""
    for sock in opened:
        with suppress(OSError):
            os.unlink(sock.getsockname())
        sock.close()


class NearestWorkers:
    """To which workers of its peers this process connects: such that all of them have the same, and it has few."""

    def __init__(self, share: WorkerShare) -> None:
        self._share = share
        self._connections = 0

    def path(self, path: str) -> str | None:
        """The next one, in turn; None where workers cannot be shared out evenly, or there are none."""
        mine = numbers_for(self._share, _workers_at(path))
        if not mine:
            return None
        self._connections += 1
        return worker_path(path, mine[self._connections % len(mine)])


def _workers_at(path: str) -> int:
    """How many sockets of workers there are. Another user who may write to the folder could put one there, and would be
    sent calls with their tokens: only those of the owner of the shared one count, of this user and of root."""
    try:
        trusted = {os.stat(path).st_uid, os.geteuid(), 0}
    except OSError:
        return 0

    def is_theirs(number: int) -> bool:
        try:
            found = os.lstat(worker_path(path, number))
        except OSError:
            return False
        return stat.S_ISSOCK(found.st_mode) and found.st_uid in trusted

    return sum(1 for _ in takewhile(is_theirs, count(1)))


def numbers_for(share: WorkerShare, theirs: int) -> Sequence[int]:
    """Of so many workers of a peer those for one of ours. Empty where one number is no multiple of the other."""
    fewer = min(share.count, theirs)
    if not fewer or share.count % fewer or theirs % fewer:
        return ()
    return range((share.number - 1) % fewer + 1, theirs + 1, fewer)
