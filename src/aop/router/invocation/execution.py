"""What follows acceptance: work that never refuses, and exactly one terminal, recorded before anybody learns it."""

import asyncio
from contextlib import suppress

from aop.a2a.answers import AgentFault
from aop.a2a.judge import AgentCanceled, Values
from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.cards.checks import SchemaChecks, TooMuchSchemaWork
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import EventType
from aop.ledger.model import CANCELED, LOST, ROUTER_ENDED, SUCCEEDED, TIMED_OUT, terminal_fact
from aop.ledger.write.group_commit import EpochFenced
from aop.ledger.write.journal import Journal
from aop.router.a2a.outcome import Outcome, failed
from aop.router.a2a.sending import send_and_follow
from aop.router.a2a.streaming import stream_chunks
from aop.router.invocation.running import TERMINAL_OF, RunningInvocation, StopReason
from aop.router.invocation.supervisor import InvocationSupervisor
from aop.router.metrics import RouterMetrics
from aop.router.stream.chunks import CheckedChunks
from aop.router.stream.delivery import StreamDelivery
from aop.router.stream.frames import FrameWriter
from aop.router.stream.outbox import Outbox
from aop.router.stream.progress import ProgressKeeper
from aop.serving.edge.request_log import Level, UnitLog, safe_cause
from aop.telemetry.phases import RequestPhases

NOTE_SECONDS = 1.0
"""How long the note that a caller left may take. After that the work is stopped without the note."""

_FAILURES = frozenset({EventType.FAILED, EventType.TIMED_OUT})


class Execution:
    def __init__(
        self,
        checks: SchemaChecks,
        journal: Journal,
        supervisor: InvocationSupervisor,
        log: UnitLog,
        metrics: RouterMetrics,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._supervisor = supervisor
        self._log = log
        self._metrics = metrics
        self._clock = clock
        self._checks = checks

    def open_stream(self, running: RunningInvocation, max_frame_bytes: int) -> StreamDelivery:
        """The caller's frames come from the delivery, `accepted` first."""
        progress = ProgressKeeper(
            self._journal, self._clock, running.last_fact, lambda: running.stop(StopReason.LEDGER_FAILED)
        )
        running.stream = StreamDelivery(Outbox(), FrameWriter(running.lineage, max_frame_bytes), progress)
        running.stream.accept()
        return running.stream

    async def leave(self, running: RunningInvocation) -> None:
        """The caller left. A note in the Ledger comes first, so that a crash cannot lose it; then the work stops."""
        if running.stop_reason is None and not running.ended.done():
            with suppress(TimeoutError, EpochFenced):
                async with asyncio.timeout(NOTE_SECONDS):
                    await self._journal.request_cancel(running.lineage.invocation)
        running.stop(StopReason.CALLER_LEFT)
        if running.stream is not None:
            running.stream.outbox.drop()  # what is left of an Invocation may wait long for the collector

    def conclude(self, phases: RequestPhases, outcome: Outcome) -> None:
        """Counts an accepted Invocation as ended and writes its outcome to its span."""
        terminal = outcome.terminal
        self._metrics.ended(terminal, phases.seconds)
        if phases.span is not None:
            phases.span.attributes["aop.outcome"] = terminal.type.value
            phases.span.failed = terminal.type in _FAILURES
            if terminal.error is not None:
                phases.span.attributes["error.type"] = terminal.error.value

    async def abandon(self, running: RunningInvocation) -> None:
        """The server ends the task of the request, as it may when it stops. The Invocation gets its terminal if
        the store takes it soon, and otherwise from the next epoch."""
        if running.ended.done():
            return
        running.stop_reason = running.stop_reason or StopReason.SHUTDOWN
        told = Outcome(ROUTER_ENDED)
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTE_SECONDS):
                told = await self.recorded(running, told)
        self._supervisor.ended(running, told)
        running.ended.set_result(told)

    async def worked(  # noqa: PLR0911  one return for each way to end
        self, running: RunningInvocation
    ) -> tuple[Outcome, bool]:
        """The outcome, and whether to cancel a Task that may still run."""
        if running.stop_reason is not None:
            return Outcome(TERMINAL_OF[running.stop_reason]), False
        worker = asyncio.current_task()
        running.worker = worker
        alarm = asyncio.get_running_loop().call_at(running.deadline, running.stop, StopReason.DEADLINE)
        try:
            return await self._exchange(running), True
        except TimeoutError:
            return Outcome(TIMED_OUT), True
        except AgentCanceled:
            return Outcome(CANCELED), False
        except AgentFault as fault:
            return failed(fault.code, fault.reason), fault.leaves_task
        except TooMuchSchemaWork:
            return failed(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.SCHEMA_WORK), True
        except asyncio.CancelledError:
            if running.stop_reason is None or worker is None:
                raise
            worker.uncancel()
            return Outcome(TERMINAL_OF[running.stop_reason]), True
        except Exception as fault:  # noqa: BLE001  whatever goes wrong, the Invocation ends in a terminal
            self._log.event("invocation.fault", level=Level.ERROR, cause=safe_cause(fault))
            return failed(ErrorCode.INTERNAL_ERROR), True
        finally:
            alarm.cancel()
            running.worker = None

    async def _exchange(self, running: RunningInvocation) -> Outcome:
        conversation = running.conversation
        delegation = conversation.delegation(running.deadline_at)
        output = running.card.skills[running.context.capability].output
        value: bytes | None = None
        message, task, deadline = running.content, running.task, running.deadline
        if running.stream is None:
            values = await send_and_follow(conversation, message, delegation, task, deadline)
            value = await self._conforming(output, values)
        else:
            prepared = await self._checks.prepared(output)
            chunks = CheckedChunks(running.stream, self._checks, output, prepared, self._metrics)
            if await stream_chunks(conversation, message, delegation, task, deadline, chunks.deliver):
                self._log.event("agent.after_terminal", level=Level.WARNING, cause=running.lineage.invocation)
        # An answer that came after the deadline is too late, whatever it says.
        late = asyncio.get_running_loop().time() >= running.deadline
        return Outcome(TIMED_OUT) if late else Outcome(SUCCEEDED, value)

    async def _conforming(self, output: bytes, values: Values) -> bytes:
        for value in values:
            if await self._checks.conforms(output, value):
                return value
        raise AgentFault(ErrorCode.A2A_PROTOCOL_ERROR, Reason.OUTPUT_SCHEMA)

    async def recorded(self, running: RunningInvocation, outcome: Outcome) -> Outcome:
        """What the caller may learn: the outcome if its terminal is durable, else LOST."""
        stream = running.stream
        last_fact, facts = (running.last_fact, ()) if stream is None else await stream.progress.close()
        if running.stop_reason is StopReason.LEDGER_FAILED and outcome.terminal is SUCCEEDED:
            # The last progress failed while the Agent was ending: nothing is a success whose record was in doubt.
            outcome = Outcome(LOST)
        terminal = terminal_fact(last_fact, new_hex_id(), self._clock(), outcome.terminal)
        try:
            told = outcome if await self._journal.end(*facts, terminal) else Outcome(LOST)
        except EpochFenced:
            if stream is not None:
                stream.outbox.end()  # without a terminal frame, because no terminal is recorded
            return Outcome(ROUTER_ENDED)
        except Exception as fault:  # noqa: BLE001  nobody may wait for a terminal that nobody writes any more
            self._log.event("invocation.fault", level=Level.ERROR, cause=safe_cause(fault))
            self._journal.defer(*facts, terminal)
            told = Outcome(LOST)
        if stream is not None:
            stream.end(told.terminal)
        return told
