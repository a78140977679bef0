"""Other processes that accept from the same listening sockets."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

NEIGHBOURS_SECONDS: Final = 0.001
"""What neighbours with fewer connections have to take the next ones."""

OwnerWorks = Callable[[], bool]
"""Whether the process that a connection is meant for works again, so that its peer had better connect anew."""


class Neighbours(Protocol):
    def tell(self, connections: int) -> None:
        """How many this process has now."""

    def leave(self) -> None:
        """This process accepts nothing more."""

    def lag(self) -> bool:
        """Whether one of them has clearly fewer connections than this process, and could take the next one."""


class Precedence(Protocol):
    """Which of the processes that have a listening socket takes its next connection."""

    def seconds_for_others(self) -> float:
        """What another one has to take it, asked before each connection; 0 when this one takes it."""

    def is_left(self) -> bool:
        """Whether that one leaves it, asked when it has had time to take it."""

    def taken(self) -> OwnerWorks | None:
        """Called for each connection that this process took. None when it may stay here."""


@dataclass(frozen=True)
class WorkerSocket:
    """A listening socket that is meant for one of several alike processes."""

    socket: socket.socket
    precedence: Precedence


class NoNeighbours:
    def tell(self, connections: int) -> None:
        pass

    def leave(self) -> None:
        pass

    def lag(self) -> bool:
        return False
