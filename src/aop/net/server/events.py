"""What the server does to connections by itself, told to its owner, who counts it and keeps the log short."""

from collections.abc import Callable
from enum import StrEnum


class ConnectionEvent(StrEnum):
    IDLE_CLOSED = "idle_closed"
    """At the limit the longest idle connection gave way to a new one."""
    REFUSED = "refused"
    """At the limit no connection was idle: the new one was refused."""
    SLOW_READER = "slow_reader"
    """The peer took too little of what waited for it and was cut."""
    ACCEPT_FAILED = "accept_failed"
    """The process has no descriptor or memory left for a new connection; it waits in the kernel's queue."""


Note = Callable[[ConnectionEvent], None]


def not_noted(event: ConnectionEvent) -> None:
    """For an owner who does not want to know."""
