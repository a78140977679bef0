"""Delivers a streamed Invocation: a chunk becomes a numbered frame at once and progress in the Ledger soon after."""

from collections.abc import Sequence
from dataclasses import dataclass

from aop.a2a.answers import AgentFault
from aop.contracts.errors import ErrorCode, Reason
from aop.ledger.model import Terminal
from aop.router.stream.frames import FrameTooLarge, FrameWriter
from aop.router.stream.outbox import Outbox
from aop.router.stream.progress import ProgressKeeper


@dataclass(frozen=True)
class StreamDelivery:
    outbox: Outbox
    frames: FrameWriter
    progress: ProgressKeeper

    def accept(self) -> None:
        self.outbox.put(self.frames.accepted())

    def chunk(self, value: bytes) -> bool:
        """Whether there is room for more. If not, the next chunk waits until the caller has read the earlier ones."""
        try:
            framed, size = self.frames.chunk(value)
        except FrameTooLarge:
            raise AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.FRAME_SIZE) from None
        self.progress.note(size)
        return self.outbox.put(framed)

    def chunks(self, values: Sequence[bytes]) -> bool:
        """The same for several at once, none of them longer than fits into a frame for certain."""
        framed, size = self.frames.several(values)
        self.progress.note(size, len(values))
        return self.outbox.put(framed)

    def end(self, terminal: Terminal) -> None:
        self.outbox.put(self.frames.terminal(terminal))
        self.outbox.end()
