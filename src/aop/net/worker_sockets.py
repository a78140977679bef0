"""A unix socket for each worker of a unit, beside the one that all of them share.

Calls that are written together share a commit, so it matters which worker they come to. Where the workers of two units
each have their own to talk to, groups are as large as with one process for each unit. A peer that finds no such socket,
or nobody at it, takes the shared one.
"""

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from itertools import count, takewhile

from aop.base.share import WorkerShare
from aop.net.sockets import is_answered, listening_path


def worker_path(path: str, number: int) -> str:
    return f"{path}.{number}"


def listening_worker_paths(path: str, workers: int) -> Sequence[socket.socket]:
    """One for each worker, in their order. OSError when one of them cannot be listened on; then none is.

    What a start with more workers left behind is removed: peers count what is there.
    """
    opened = list[socket.socket]()
    try:
        for number in range(1, workers + 1):
            opened.append(listening_path(worker_path(path, number)))
    except OSError:
        for sock in opened:
            sock.close()
        raise
    with suppress(OSError):
        for left in takewhile(os.path.exists, (worker_path(path, number) for number in count(workers + 1))):
            if is_answered(left):
                break
            os.unlink(left)
    return opened


class NearestWorkers:
    """To which workers of its peers this process connects: such that all of them have the same, and it has few."""

    def __init__(self, share: WorkerShare) -> None:
        self._share = share
        self._connections = 0

    def path(self, path: str) -> str | None:
        """The next one, in turn; None where workers cannot be shared out evenly, or there are none."""
        theirs = sum(1 for _ in takewhile(os.path.exists, (worker_path(path, number) for number in count(1))))
        mine = numbers_for(self._share, theirs)
        if not mine:
            return None
        self._connections += 1
        return worker_path(path, mine[self._connections % len(mine)])


def numbers_for(share: WorkerShare, theirs: int) -> Sequence[int]:
    """Of so many workers of a peer those for one of ours. Empty where one number is no multiple of the other."""
    fewer = min(share.count, theirs)
    if not fewer or share.count % fewer or theirs % fewer:
        return ()
    return range((share.number - 1) % fewer + 1, theirs + 1, fewer)
