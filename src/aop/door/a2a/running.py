"""A streamed call that its own caller can cancel by another request."""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class OpenCall:
    """One Invocation that streams to its caller; it has to be made in the task that streams."""

    context_id: str
    cancel_requested: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing of it runs in this process any more."""
    _task: asyncio.Task[object] | None = field(default_factory=asyncio.current_task, repr=False)

    async def answer(self, cancel: bool) -> bytes:
        """The context of the call; after a cancel, once nothing of it runs."""
        if cancel:
            self._cancel()
            await self.closed.wait()
        return self.context_id.encode()

    def resume(self) -> bool:
        """For the task that was stopped: whether it goes on, because only a cancel of the caller stopped it."""
        return self.cancel_requested and self._task is not None and self._task.uncancel() == 0

    def _cancel(self) -> None:
        """Stops the reading of its result, once. The task that read it then closes its connection to the Gateway,
        which ends the Invocation."""
        if not self.cancel_requested and self._task is not None:
            self.cancel_requested = True
            self._task.cancel()
