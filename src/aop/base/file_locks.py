"""Locks on open files and folders, which end with the process that has them."""

import fcntl
from typing import IO


def try_lock(opened: int | IO[str], *, shared: bool = False) -> bool:
    """At once; False where another process has it."""
    try:
        fcntl.flock(opened, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
