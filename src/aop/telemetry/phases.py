"""The phases a request goes through, one behind the other: how long each took, and its span when there is one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from aop.base.ids import new_span_id
from aop.telemetry.spans import OpenSpan, SpanKind

Observe = Callable[[float], None]
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, eq=False)
class PhaseKind:
    """`observe` learns the seconds of every phase of it."""

    name: str
    observe: Observe
    span_kind: SpanKind = SpanKind.INTERNAL


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase, gone through; `fault` is the code it failed with. Seconds of the process's own clock."""

    kind: PhaseKind
    span_id: str
    begun: float
    ended: float
    fault: str | None


class RequestPhases:
    __slots__ = ("_begun", "_kind", "_span_id", "begun", "ended_phases", "span")

    def __init__(self) -> None:
        self.begun = perf_counter()
        self.span: OpenSpan | None = None
        self.ended_phases: tuple[Phase, ...] = ()
        self._kind: PhaseKind | None = None
        self._begun = 0.0
        self._span_id = ""

    def enter(self, kind: PhaseKind, span_id: str | None = None, *, fault: str | None = None) -> None:
        """Ends the phase before, which may have failed; being in this one already changes nothing."""
        before = self._kind
        if kind is before:
            return
        now = perf_counter()
        if before is not None:
            before.observe(now - self._begun)
            if self.span is not None:
                self._keep(self.span, before, now, fault)
        self._kind, self._begun = kind, now
        if self.span is not None:
            self._span_id = span_id or new_span_id()

    def end(self, fault: str | None = None) -> None:
        kind = self._kind
        if kind is None:
            return
        ended, self._kind = perf_counter(), None
        kind.observe(ended - self._begun)
        if self.span is not None:
            self._keep(self.span, kind, ended, fault)

    def _keep(self, span: OpenSpan, kind: PhaseKind, ended: float, fault: str | None) -> None:
        if span.sampled:
            self.ended_phases += (Phase(kind, self._span_id, self._begun, ended, fault),)

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return perf_counter() - self.begun

    def headers(self) -> Headers:
        """For a request that is made in this phase."""
        return () if self.span is None else (self.span.header_of(self._span_id),)
