"""The limits of the HTTP server, and the events that it reports when it enforces one."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class ServerLimits:
    head_seconds: float = 5.0
    """From accept, or from the first byte of a next request, to the end of its head."""

    idle_seconds: float = 60.0
    """Between the end of an answer and the first byte of the next request."""

    linger_seconds: float = 2.0
    """How long a refused request is still read and dropped, so that its sender gets to see the answer."""

    max_headers: int = 64
    max_head_bytes: int = 32 * 1024

    buffer_bytes: int = 64 * 1024
    """Of a request body not yet received by the application."""

    max_write_bytes: int = 256 * 1024
    """A larger part of an answer is written in pieces, each when the peer has taken the one before."""

    slow_seconds: float = 30.0
    slow_bytes: int = 480 * 1024
    """A peer for which bytes wait all of `slow_seconds`, and which takes fewer than `slow_bytes` of them, is cut,
    unless it only rested and now reads on, see `pace`."""

    max_connections: int = 10_000
    """At this many the longest idle connection gives way to a new one, then the oldest that was not judged yet."""


class ConnectionEvent(StrEnum):
    IDLE_CLOSED = "idle_closed"
    """At the limit the longest idle connection gave way to a new one, or one that was not judged yet."""
    REFUSED = "refused"
    """At the limit no connection could give way: the new one was refused."""
    SLOW_READER = "slow_reader"
    """The peer took too little of what waited for it and was cut."""
    ACCEPT_FAILED = "accept_failed"
    """The process has no descriptor or memory left for a new connection; it waits in the kernel's queue."""


Note = Callable[[ConnectionEvent], None]
