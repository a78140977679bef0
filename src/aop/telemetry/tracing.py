"""Which requests are traced, under which parent; hands ended spans to the exporter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns, time_ns

from aop.base.ids import new_span_id
from aop.net.headers import read_traceparent
from aop.telemetry.conventions import CALL, WHO, named_by
from aop.telemetry.phases import Phase, RequestPhases
from aop.telemetry.spans import Attribute, Attributes, EndedSpan, OpenSpan, SpanKind, agent_span_id

Take = Callable[[Sequence[EndedSpan]], None]
_BILLION = 1_000_000_000
_REPEATED = ("aop.invocation.id", "aop.agent.id", "aop.agent.name", "aop.agent.version", "aop.capability")
"""On each phase too, because tools search spans one by one."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """Decides by the trace id, so that every unit with the same ratio decides alike; a parent's word goes first."""

    ratio: float = 1.0
    parent_based: bool = True

    def samples(self, trace_id: str) -> bool:
        return int(trace_id[16:], 16) < round(self.ratio * 2**64)


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """One request that was answered. `begun` and `ended` are seconds of the process's own clock."""

    name: str
    begun: float
    ended: float
    attributes: Mapping[str, Attribute]
    failed: bool


class Tracing:
    def __init__(self, sampler: Sampler, take: Take) -> None:
        self._sampler = sampler
        self._take = take

    def open(self, trace_id: str, named: bytes | None, called_by: str | None) -> OpenSpan:
        """The span of a request that belongs to this trace.

        Its parent is what the request names, if that is of the same trace; else the span of the Agent that is running
        the Invocation `called_by`; else there is none.
        """
        parent = None if named is None else read_traceparent(named)
        if parent is not None and parent.trace_id == trace_id:
            sampled = parent.sampled if self._sampler.parent_based else self._sampler.samples(trace_id)
            return OpenSpan(trace_id, new_span_id(), parent.span_id, sampled)
        parent_id = None if called_by is None else agent_span_id(called_by)
        return OpenSpan(trace_id, new_span_id(), parent_id, self._sampler.samples(trace_id))

    def served(self, span: OpenSpan, request: AnsweredRequest, phases: RequestPhases | None) -> None:
        if not span.sampled:
            return
        # The wall clock is read once for all of them, so that a child lies within the time of its parent.
        shift = time_ns() - perf_counter_ns()
        spans = [_server_span(span, request, shift)]
        if phases is not None:
            spans += [_phase_span(span, phase, spans[0].attributes, shift) for phase in phases.ended_phases]
        self._take(spans)


def _server_span(span: OpenSpan, request: AnsweredRequest, shift: int) -> EndedSpan:
    attributes = {**request.attributes, **span.attributes}
    return EndedSpan(
        span.trace_id,
        span.span_id,
        span.parent_id,
        request.name,
        SpanKind.SERVER,
        int(request.begun * _BILLION) + shift,
        int(request.ended * _BILLION) + shift,
        attributes | named_by(WHO, attributes),
        request.failed or span.failed,
    )


def _phase_span(span: OpenSpan, phase: Phase, whole: Attributes, shift: int) -> EndedSpan:
    attributes = {name: whole[name] for name in _REPEATED if name in whole}
    attributes |= named_by(WHO, attributes)
    if phase.kind.span_kind is SpanKind.CLIENT:
        attributes |= named_by(CALL, whole)
    if phase.fault is not None:
        attributes["error.type"] = phase.fault
    return EndedSpan(
        span.trace_id,
        phase.span_id,
        span.span_id,
        phase.kind.name,
        phase.kind.span_kind,
        int(phase.begun * _BILLION) + shift,
        int(phase.ended * _BILLION) + shift,
        attributes,
        phase.fault is not None,
    )
