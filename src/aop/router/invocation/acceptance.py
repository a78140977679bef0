"""The acceptance boundary: the input of a call, and its first Ledger transaction. Nothing after that may refuse it."""

import asyncio
import time
from datetime import UTC, datetime
from functools import partial

import msgspec

from aop.a2a import requests
from aop.a2a.judge import TrackedTask
from aop.base.ids import new_opening_id
from aop.cards.checks import SchemaChecks, TooMuchSchemaWork
from aop.contracts.card import AuthenticationType
from aop.contracts.errors import Conflict, DependencyFailed, ErrorCode, PayloadTooLarge, Reason
from aop.contracts.identity import InvocationContext
from aop.contracts.lineage import EventType
from aop.ledger.model import TIMED_OUT, Acceptance, Opening, Terminal
from aop.ledger.write.group_commit import EpochFenced
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceRefused, AcceptanceUnknown, AcceptedButLost, Journal
from aop.router.a2a.agent import AgentConversation, Agents
from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import RunningInvocation
from aop.router.targets.card import TargetCard
from aop.telemetry.phases import RequestPhases
from aop.telemetry.spans import Attribute, agent_span_id


class AuthorizedCall(msgspec.Struct, frozen=True):
    """A call as it arrived. `content` is the caller's input, `value` the same parsed; `received` is loop time."""

    context: InvocationContext
    content: bytes
    value: object
    stream: bool
    received: float
    phases: RequestPhases


class EndedAtAcceptance(msgspec.Struct, frozen=True):
    """Recorded together with its terminal; the Agent was never contacted."""

    outcome: Outcome


class CallLimits(msgspec.Struct, frozen=True):
    """Of any call, whose Card may set lower ones: its time, the caller's own body and a frame, in bytes."""

    deadline_ms: int
    request_bytes: int
    frame_bytes: int


class AcceptanceBoundary:
    def __init__(self, journal: Journal, checks: SchemaChecks, limits: CallLimits, agents: Agents) -> None:
        self._journal, self._agents = journal, agents
        self._checks, self._limits = checks, limits

    async def require_input(self, call: AuthorizedCall, card: TargetCard) -> float:
        """The deadline of the call, if its input has the right size and follows the schema of the Skill.

        A check that takes until the deadline is no refusal: the call is accepted and ends `timed_out`.
        """
        if len(call.content) > min(self._limits.request_bytes, card.limits.max_input_bytes):
            raise PayloadTooLarge("input", reason=Reason.INPUT_SIZE)
        deadline = call.received + min(self._limits.deadline_ms, card.limits.timeout_ms) / 1000
        schema = card.skills[call.context.capability].input
        try:
            await self._checks.require_input(schema, call.content, call.value, deadline)
        except TooMuchSchemaWork:
            raise PayloadTooLarge("the check of the input", reason=Reason.SCHEMA_WORK) from None
        except TimeoutError:
            pass
        return deadline

    async def record(
        self, call: AuthorizedCall, card: TargetCard, deadline: float
    ) -> RunningInvocation | EndedAtAcceptance:
        """Returns after the first transaction committed; raises a Refusal if nothing is recorded."""
        left = deadline - asyncio.get_running_loop().time()
        now = time.time()
        opening, terminal = _opening(call, card, left)
        acceptance = Acceptance(
            call.context,
            opening,
            new_opening_id(),
            datetime.fromtimestamp(now, UTC),
            datetime.fromtimestamp(now + left, UTC),
        )
        try:
            if terminal is not None:
                await self._journal.accept_ended(acceptance, terminal)
                return EndedAtAcceptance(Outcome(terminal))
            span, context = call.phases.span, call.context
            named = () if span is None else (span.header_of(agent_span_id(context.lineage.invocation)),)
            conversation = AgentConversation(self._agents, card.endpoint, context, card.limits.max_output_bytes, named)
            # Delegation and credential are made while the acceptance is being committed. If it fails, nobody uses them.
            write = requests.stream if call.stream else requests.send
            prepare = partial(conversation.prepare, write, call.content, now + left)
            last_fact = await self._journal.accept(acceptance, prepare)
        except AcceptanceRefused:
            raise _conflict(call.context) from None
        except AcceptanceFailed:
            raise DependencyFailed("the first Ledger write", reason=Reason.STORE_UNAVAILABLE) from None
        except EpochFenced:
            raise DependencyFailed("the first Ledger write: a newer Router took over") from None
        except AcceptanceUnknown:
            raise DependencyFailed("the first Ledger write", reason=Reason.ACCEPTANCE_UNKNOWN) from None
        except AcceptedButLost as found:
            return EndedAtAcceptance(Outcome(await self._journal.end_unstarted(found.last_fact)))
        task = TrackedTask(call.context.lineage.invocation)
        return RunningInvocation(card, call.content, deadline, now + left, last_fact, task, call.phases, conversation)


def _conflict(context: InvocationContext) -> Conflict:
    """The id of a child is minted here, so that only its parent can be in the way."""
    if context.lineage.parent is None:
        return Conflict("the id is taken", reason=Reason.ALREADY_EXISTS)
    return Conflict("the parent is not running", reason=Reason.PARENT_NOT_RUNNING)


def _opening(call: AuthorizedCall, card: TargetCard, left: float) -> tuple[Opening, Terminal | None]:
    """How the Invocation opens, and its terminal if it ends at acceptance."""
    if left <= 0:
        return Opening.CREATED, TIMED_OUT
    if card.authentication is not AuthenticationType.HTTP_BEARER:
        return Opening.ROUTING, Terminal(EventType.FAILED, ErrorCode.AGENT_AUTH_UNSUPPORTED)
    if call.stream and not card.limits.streaming:
        return Opening.ROUTING, Terminal(EventType.FAILED, ErrorCode.ROUTE_NOT_FOUND, Reason.STREAMING_NOT_DECLARED)
    return Opening.STARTED, None


def span_attributes(call: AuthorizedCall) -> dict[str, Attribute]:
    """What a span says of the call: ids and names, never content."""
    lineage, pin = call.context.lineage, call.context.pin
    attributes: dict[str, Attribute] = {
        "aop.root_task.id": lineage.root_task,
        "aop.workspace.id": pin.workspace,
        "aop.agent.id": pin.agent,
        "aop.agent.version": pin.version,
        "aop.release.id": pin.release,
        "aop.capability": call.context.capability,
        "aop.stream": call.stream,
    }
    if lineage.parent is not None:
        attributes["aop.parent_invocation.id"] = lineage.parent
    return attributes
