"""Calls that run now, so that a client can cancel one by a second message, as clients of the handshake do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from aop.door.gateway import DoorCaller
from aop.door.mcp.messages import Id
from aop.serving.workers.worker_group import WorkerGroup

_QUESTION: Final = "mcp cancel"
_Key = tuple[bytes, str, bytes, Id]
_encode = msgspec.msgpack.Encoder().encode
_key = msgspec.msgpack.Decoder(_Key).decode


class CancellableCalls:
    """By bearer, Workspace, session and request id. A call without a session can only be cancelled by leaving: ids of
    requests are counted from 0 by every client, so they name nothing by themselves."""

    def __init__(self, group: WorkerGroup) -> None:
        self._cancels: dict[_Key, Callable[[], object]] = {}
        self._group = group
        group.answers(_QUESTION, self._answer)

    @contextmanager
    def held(
        self, caller: DoorCaller, session: bytes | None, request_id: Id, cancel: Callable[[], object]
    ) -> Iterator[None]:
        key = None if session is None else (caller.bearer, caller.workspace_id, session, request_id)
        if key is None or key in self._cancels:
            yield
            return
        self._cancels[key] = cancel
        try:
            yield
        finally:
            del self._cancels[key]

    async def cancel(self, caller: DoorCaller, session: bytes | None, request_id: Id) -> None:
        """In whichever worker of the door it runs. Nothing happens when no such call runs: it may have ended, or never
        begun."""
        if session is not None:
            await self._group.ask_all(_QUESTION, _encode((caller.bearer, caller.workspace_id, session, request_id)))

    async def _answer(self, body: bytes) -> bytes:
        found = self._cancels.get(_key(body))
        if found is not None:
            found()
        return b""
