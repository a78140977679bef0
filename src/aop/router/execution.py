"""Runs an accepted Invocation: never refuses, ends in exactly one terminal, and records that before telling anyone."""

import asyncio

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.contracts.errors import ErrorCode
from aop.ledger.journal import Journal
from aop.ledger.lane import EpochFenced
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, terminal_fact
from aop.router.a2a.agent import AgentConversation, Agents
from aop.router.a2a.sending import send_and_follow
from aop.router.outcome import AgentCanceled, AgentFault, Outcome, failed
from aop.router.output_check import conforms
from aop.router.running import TERMINAL_OF, Running, StopReason
from aop.router.supervisor import Supervisor
from aop.serving.request_log import Level, UnitLog, safe_cause


class Execution:
    def __init__(
        self, agents: Agents, journal: Journal, supervisor: Supervisor, log: UnitLog, clock: Clock, *, most_answer: int
    ) -> None:
        self._agents = agents
        self._journal = journal
        self._supervisor = supervisor
        self._log = log
        self._clock = clock
        self._most_answer = most_answer

    def start(self, running: Running) -> None:
        """From here on the Invocation belongs to the supervisor, whoever waits for it."""
        self._supervisor.start(running, self._run(running))

    async def _run(self, running: Running) -> None:
        most = min(self._most_answer, running.card.max_output_bytes)
        conversation = AgentConversation(self._agents, running.card.endpoint, running.context, most)
        outcome, leaves_task = await self._worked(running, conversation)
        if running.stop_reason is StopReason.CALLER_LEFT:
            await self._journal.request_cancel(running.place.context.invocation)
        outcome = await self._recorded(running, outcome)
        self._supervisor.ended(running, outcome)
        running.ended.set_result(outcome)
        if leaves_task and running.task.may_run:
            await conversation.cancel(running.task.task_id or "")

    async def _worked(  # noqa: PLR0911  one return for each way to end
        self, running: Running, conversation: AgentConversation
    ) -> tuple[Outcome, bool]:
        """The outcome, and whether a Task that may still run is to be told to stop."""
        if running.stop_reason is not None:
            return Outcome(TERMINAL_OF[running.stop_reason]), False
        worker = asyncio.current_task()
        running.working(worker)
        try:
            async with asyncio.timeout_at(running.deadline):
                return await self._exchange(running, conversation), True
        except TimeoutError:
            return Outcome(TIMED_OUT), True
        except AgentCanceled:
            return Outcome(CANCELED), False
        except AgentFault as fault:
            return failed(fault.code), fault.leaves_task
        except asyncio.CancelledError:
            if running.stop_reason is None or worker is None:
                raise
            worker.uncancel()
            return Outcome(TERMINAL_OF[running.stop_reason]), True
        except Exception as fault:  # noqa: BLE001  whatever goes wrong, the Invocation ends in a terminal
            self._log.event("invocation.fault", level=Level.ERROR, cause=safe_cause(fault))
            return failed(ErrorCode.INTERNAL_ERROR), True
        finally:
            running.working(None)

    async def _exchange(self, running: Running, conversation: AgentConversation) -> Outcome:
        delegation = self._agents.credentials.delegation(running.context, running.deadline_at)
        value = await send_and_follow(conversation, running.content, delegation, running.task, running.deadline)
        if not await conforms(running.card.skills[running.context.capability].output, value):
            raise AgentFault(ErrorCode.A2A_PROTOCOL_ERROR)
        # An answer that came after the deadline is too late, whatever it says.
        late = asyncio.get_running_loop().time() >= running.deadline
        return Outcome(TIMED_OUT) if late else Outcome(SUCCEEDED, value)

    async def _recorded(self, running: Running, outcome: Outcome) -> Outcome:
        """What may be told: the outcome if its terminal is durable, else that the platform could not keep it."""
        fact = terminal_fact(running.place, new_hex_id(), self._clock(), outcome.terminal)
        try:
            return outcome if await self._journal.end(fact) else Outcome(LOST)
        except EpochFenced:
            return Outcome(LOST)
