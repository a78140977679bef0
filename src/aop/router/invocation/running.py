"""One accepted Invocation while it runs: its inputs, its state, and how others stop it."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum

from aop.a2a.judge import TrackedTask
from aop.contracts.identity import InvocationContext, Lineage
from aop.ledger.model import CANCELED, LOST, ROUTER_ENDED, TIMED_OUT, LastFact, Terminal
from aop.router.a2a.agent import AgentConversation
from aop.router.a2a.outcome import Outcome
from aop.router.stream.delivery import StreamDelivery
from aop.router.targets.card import TargetCard
from aop.telemetry.phases import RequestPhases


class StopReason(StrEnum):
    CALLER_LEFT = "caller_left"
    DEADLINE = "deadline"
    PARENT_ENDED = "parent_ended"
    LEDGER_FAILED = "ledger_failed"
    SHUTDOWN = "shutdown"


TERMINAL_OF: dict[StopReason, Terminal] = {
    StopReason.CALLER_LEFT: CANCELED,
    StopReason.DEADLINE: TIMED_OUT,
    StopReason.PARENT_ENDED: CANCELED,
    StopReason.LEDGER_FAILED: LOST,
    StopReason.SHUTDOWN: ROUTER_ENDED,
}


@dataclass(eq=False)
class RunningInvocation:
    """`deadline` is in loop time, `deadline_at` the same moment in seconds of the real clock."""

    card: TargetCard
    content: bytes
    deadline: float
    deadline_at: float
    last_fact: LastFact
    task: TrackedTask
    phases: RequestPhases
    conversation: AgentConversation
    ended: asyncio.Future[Outcome] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    stream: StreamDelivery | None = None
    stop_reason: StopReason | None = None
    worker: asyncio.Task[None] | None = None
    """While work goes on; a stop cancels it."""

    @property
    def context(self) -> InvocationContext:
        return self.last_fact.context

    @property
    def lineage(self) -> Lineage:
        return self.last_fact.context.lineage

    def stop(self, reason: StopReason) -> None:
        """The first reason counts; once the outcome is being recorded, none does."""
        if self.stop_reason is None and not self.ended.done():
            self.stop_reason = reason
            if self.worker is not None:
                self.worker.cancel()
