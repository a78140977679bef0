"""Other processes that accept from the same listening sockets."""

import socket
from dataclasses import dataclass
from typing import Protocol


class Neighbours(Protocol):
    def tell(self, connections: int) -> None:
        """How many this process has now."""

    def leave(self) -> None:
        """This process accepts nothing more."""

    def lag(self) -> bool:
        """Whether one of them has clearly fewer connections than this process, and could take the next one."""


class Precedence(Protocol):
    """Which of the processes that have a listening socket takes its next connection."""

    def is_others(self) -> bool:
        """Whether another one should, asked before each connection."""

    def is_left(self) -> bool:
        """Whether that one leaves it, asked when it has had time to take it."""


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
