"""Ends work whose caller is gone: cancels the enclosed block at its next await and swallows just that cancellation."""

import asyncio
from types import TracebackType

from aop.serving.request import Request


class CancelOnDisconnect:
    """`async with CancelOnDisconnect(request) as left:` — afterwards `left.happened` says whether the caller left."""

    def __init__(self, request: Request) -> None:
        self._gone = request.scope["aop.disconnected"]
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self.happened = False

    async def __aenter__(self) -> "CancelOnDisconnect":
        self._task = asyncio.current_task()
        assert self._task is not None  # noqa: S101  always within a task
        self._cancelling = self._task.cancelling()
        self._gone.add_callback(self._leave)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
        self._gone.remove_callback(self._leave)
        if not self.happened or self._task is None:
            return False
        # Somebody else may have cancelled the task too; only our own request is taken back.
        return self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError

    def _leave(self) -> None:
        self.happened = True
        if self._task is not None:
            self._task.cancel()
