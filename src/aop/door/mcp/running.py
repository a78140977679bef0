"""Calls that run now, so that a client can cancel one by a second message, as clients of the handshake do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aop.door.gateway import DoorCaller
from aop.door.mcp.messages import Id

_Key = tuple[str, str, bytes, Id]


class CancellableCalls:
    """By bearer, Workspace, session and request id. A call without a session can only be cancelled by leaving: ids of
    requests are counted from 0 by every client, so they name nothing by themselves."""

    def __init__(self) -> None:
        self._cancels: dict[_Key, Callable[[], object]] = {}

    @contextmanager
    def held(
        self, caller: DoorCaller, session: bytes | None, request_id: Id, cancel: Callable[[], object]
    ) -> Iterator[None]:
        key = None if session is None else (*caller.key, session, request_id)
        if key is None or key in self._cancels:
            yield
            return
        self._cancels[key] = cancel
        try:
            yield
        finally:
            del self._cancels[key]

    def cancel(self, caller: DoorCaller, session: bytes | None, request_id: Id) -> None:
        """Nothing happens when no such call runs: it may have ended, or never begun."""
        found = None if session is None else self._cancels.get((*caller.key, session, request_id))
        if found is not None:
            found()
