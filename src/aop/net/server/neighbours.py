"""Other processes that accept from the same listening sockets."""

from typing import Protocol


class Neighbours(Protocol):
    def tell(self, connections: int) -> None:
        """How many this process has now."""

    def leave(self) -> None:
        """This process accepts nothing more."""

    def lag(self) -> bool:
        """Whether one of them has clearly fewer connections than this process, and could take the next one."""


class NoNeighbours:
    def tell(self, connections: int) -> None:
        pass

    def leave(self) -> None:
        pass

    def lag(self) -> bool:
        return False
