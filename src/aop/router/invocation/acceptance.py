"""The acceptance boundary: all that may refuse an Invocation, up to and including its first Ledger transaction."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from aop.base.ids import new_opening_id
from aop.cards.checks import SchemaChecks, TooMuchSchemaWork
from aop.contracts.card import AuthenticationType
from aop.contracts.errors import Conflict, DependencyFailed, ErrorCode, PayloadTooLarge, Reason, Relayed
from aop.contracts.lineage import CallerType, EventType
from aop.contracts.resolution import ResolveAgentRequest
from aop.ledger.group_commit import EpochFenced
from aop.ledger.journal import AcceptanceFailed, AcceptanceRefused, AcceptanceUnknown, AcceptedButLost, Journal
from aop.ledger.model import LOST, TIMED_OUT, Acceptance, Context, Opening, Place, Terminal
from aop.router.a2a.agent_task import AgentTask
from aop.router.a2a.credential import CallContext
from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import Running
from aop.router.metrics import InvocationPhases
from aop.router.targets.card import TargetCard
from aop.router.targets.resolution import Resolution
from aop.router.targets.topology import Topology
from aop.serving.body import CallerLeft
from aop.telemetry.phases import RequestPhases
from aop.telemetry.spans import Attribute


class Call(msgspec.Struct, frozen=True):
    """An authorized call as it arrived. `received` is loop time; `input` the caller's bytes and their parsed value."""

    invocation_id: str
    root_task_id: str
    trace_id: str
    parent_invocation_id: str | None
    caller_type: CallerType
    caller_id: str
    workspace_id: str
    agent_id: str
    version: str
    release_id: str
    card_digest: str
    capability: str
    content: bytes
    value: object
    stream: bool
    depth: int
    received: float
    phases: RequestPhases


class EndedAtAcceptance(msgspec.Struct, frozen=True):
    """Accepted and over at once: recorded with its terminal, the Agent never contacted."""

    call: Call
    outcome: Outcome


class Accepting:
    def __init__(
        self,
        topology: Topology,
        resolution: Resolution,
        journal: Journal,
        checks: SchemaChecks,
        phase_kinds: InvocationPhases,
        *,
        max_deadline_ms: int,
        max_input_bytes: int,
    ) -> None:
        self._topology = topology
        self._resolution = resolution
        self._journal = journal
        self._checks = checks
        self._phase_kinds = phase_kinds
        self._max_deadline_ms = max_deadline_ms
        self._max_input_bytes = max_input_bytes

    async def accept(self, call: Call, caller_left: Callable[[], bool]) -> Running | EndedAtAcceptance:
        """Raises a Refusal before anything is recorded, or returns after the first transaction committed."""
        phases = call.phases
        if phases.span is not None:
            phases.span.attributes.update(_told_of(call))
        phases.enter(self._phase_kinds.resolve)
        self._require_usable(call.release_id)
        pin = (call.release_id, call.card_digest)
        card = await self._resolution.card(_resolve_request(call), *pin, phases.headers())
        phases.enter(self._phase_kinds.accept)
        if len(call.content) > min(self._max_input_bytes, card.max_input_bytes):
            raise PayloadTooLarge("input", reason=Reason.INPUT_SIZE)
        deadline = call.received + min(self._max_deadline_ms, card.timeout_ms) / 1000
        await self._require_input(call, card, deadline)
        if caller_left():
            raise CallerLeft("before acceptance")
        # Again, because a change may have arrived while the Card was asked for or the input checked.
        self._require_usable(call.release_id)
        accepted = await self._record(call, card, deadline)
        phases.end()
        return accepted

    def _require_usable(self, release_id: str) -> None:
        refusal = self._topology.refusal(release_id)
        if refusal is not None:
            raise Relayed(refusal, "the watched state of the Release")

    async def _require_input(self, call: Call, card: TargetCard, deadline: float) -> None:
        """A check that is not done at the deadline is no refusal: the call is recorded, and over with that."""
        try:
            await self._checks.require_input(card.skills[call.capability].input, call.content, call.value, deadline)
        except TooMuchSchemaWork:
            raise PayloadTooLarge("the check of the input", reason=Reason.SCHEMA_WORK) from None
        except TimeoutError:
            return

    async def _record(self, call: Call, card: TargetCard, deadline: float) -> Running | EndedAtAcceptance:
        left = deadline - asyncio.get_running_loop().time()
        now = time.time()
        opening, terminal = _opening(call, card, left)
        acceptance = Acceptance(
            _ledger_context(call),
            opening,
            new_opening_id(),
            datetime.fromtimestamp(now, UTC),
            datetime.fromtimestamp(now + left, UTC),
        )
        try:
            if terminal is not None:
                await self._journal.accept_ended(acceptance, terminal)
                return EndedAtAcceptance(call, Outcome(terminal))
            place = await self._journal.accept(acceptance)
        except AcceptanceRefused:
            raise Conflict("the id is taken or the parent is not running") from None
        except (AcceptanceFailed, EpochFenced):
            raise DependencyFailed("the first Ledger write") from None
        except AcceptanceUnknown:
            raise DependencyFailed("the first Ledger write", reason=Reason.ACCEPTANCE_UNKNOWN) from None
        except AcceptedButLost as found:
            return await self._end_as_lost(call, found.place)
        return _running(call, card, place, deadline, now + left)

    async def _end_as_lost(self, call: Call, place: Place) -> EndedAtAcceptance:
        await self._journal.end_as_lost(place)
        return EndedAtAcceptance(call, Outcome(LOST))


def _opening(call: Call, card: TargetCard, left: float) -> tuple[Opening, Terminal | None]:
    """How the Invocation opens, and its terminal when it is over with that."""
    if left <= 0:
        return Opening.CREATED, TIMED_OUT
    if card.authentication is not AuthenticationType.HTTP_BEARER:
        return Opening.ROUTING, Terminal(EventType.FAILED, ErrorCode.AGENT_AUTH_UNSUPPORTED)
    if call.stream and not card.streaming:
        return Opening.ROUTING, Terminal(EventType.FAILED, ErrorCode.ROUTE_NOT_FOUND)
    return Opening.STARTED, None


def _resolve_request(call: Call) -> ResolveAgentRequest:
    return ResolveAgentRequest(
        invocation_id=call.invocation_id,
        root_task_id=call.root_task_id,
        trace_id=call.trace_id,
        workspace_id=call.workspace_id,
        agent_id=call.agent_id,
        version=call.version,
        capability=call.capability,
    )


def _told_of(call: Call) -> dict[str, Attribute]:
    """What a span says of the call: ids and names, never content."""
    told: dict[str, Attribute] = {
        "aop.root_task.id": call.root_task_id,
        "aop.workspace.id": call.workspace_id,
        "aop.agent.id": call.agent_id,
        "aop.agent.version": call.version,
        "aop.release.id": call.release_id,
        "aop.capability": call.capability,
        "aop.stream": call.stream,
    }
    if call.parent_invocation_id is not None:
        told["aop.parent_invocation.id"] = call.parent_invocation_id
    return told


def _ledger_context(call: Call) -> Context:
    parent = call.parent_invocation_id
    return Context(
        invocation=call.invocation_id.removeprefix("inv_"),
        root_task=call.root_task_id.removeprefix("task_"),
        trace=call.trace_id,
        parent=None if parent is None else parent.removeprefix("inv_"),
        caller_type=call.caller_type,
        caller_id=call.caller_id,
        workspace_id=call.workspace_id,
        target_agent_id=call.agent_id,
        agent_card_version=call.version,
        release=call.release_id.removeprefix("rel_"),
        card_digest=bytes.fromhex(call.card_digest),
        capability=call.capability,
    )


def _running(call: Call, card: TargetCard, place: Place, deadline: float, deadline_at: float) -> Running:
    context = CallContext(
        workspace_id=call.workspace_id,
        agent_id=call.agent_id,
        agent_version=call.version,
        release_id=call.release_id,
        card_digest=call.card_digest,
        capability=call.capability,
        invocation_id=call.invocation_id,
        root_task_id=call.root_task_id,
        trace_id=call.trace_id,
        parent_invocation_id=call.parent_invocation_id,
        audience=card.endpoint.origin,
        depth=call.depth,
    )
    return Running(
        context, card, call.content, deadline, deadline_at, place, AgentTask(call.invocation_id), call.phases
    )
