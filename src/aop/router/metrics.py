"""What the Router counts beside its requests: Invocations, their phases, streams, Ledger writes, the watch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from aop.ledger.model import Terminal
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.write.open_invocations import Unsettled
from aop.router.targets.topology import Topology
from aop.serving.edge.metrics import BUCKETS, Counts, Durations, Observe, UnitMetrics
from aop.telemetry.phases import PhaseKind
from aop.telemetry.spans import SpanKind

_WRITE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


@dataclass(frozen=True)
class InvocationPhases:
    """The phases of every Invocation, in this order."""

    resolve: PhaseKind
    accept: PhaseKind
    agent: PhaseKind
    terminal: PhaseKind


class RouterMetrics(Collector):
    def __init__(self, unit: UnitMetrics) -> None:
        self._unit = unit
        self._ended = Counts(
            unit.registry, "aop_invocations", "Accepted Invocations that ended.", ("unit", "outcome", "code", "reason")
        )
        self._seconds = Durations(
            unit.registry,
            "aop_invocation_seconds",
            "Time from an Invocation's receipt to its recorded terminal.",
            ("unit", "outcome"),
            BUCKETS,
        )
        self.phase_kinds = InvocationPhases(
            PhaseKind("resolve", self._observe("aop_resolve_seconds", "Time to the exact Card, known or asked for.")),
            PhaseKind("accept", self._observe("aop_accept_seconds", "Input check and first Ledger transaction.")),
            PhaseKind("agent", self._observe("aop_agent_seconds", "Time an Agent had the work."), SpanKind.CLIENT),
            PhaseKind("terminal", self._observe("aop_terminal_seconds", "Time until the terminal was recorded.")),
        )
        self.ledger_wrote = self._observe(
            "aop_ledger_write_seconds",
            "Time from a write's begin to its commit, one write for all that waited.",
            _WRITE_BUCKETS,
        )
        self.chunks = 0
        """Chunks of all streams so far. The sender of a chunk adds to it; `collect` reads it."""
        unit.registry.register(self)
        self._counters: dict[Terminal, tuple[Callable[[], None], Observe]] = {}

    def ended(self, terminal: Terminal, seconds: float) -> None:
        counters = self._counters.get(terminal)
        if counters is None:
            counters = self._counters[terminal] = (
                self._ended.of(self._unit.unit, terminal.type, terminal.error or "", terminal.reason or ""),
                self._seconds.of(self._unit.unit, terminal.type),
            )
        count, observe = counters
        count()
        observe(seconds)

    def running(self, invocations: Callable[[], int], streams: Callable[[], int]) -> None:
        self._unit.in_flight(invocations)
        self._unit.gauge("aop_streams_open", "Result streams that run here.", streams)

    def watched(self, topology: Topology) -> None:
        gauge = self._unit.gauge
        gauge("aop_topology_live", "1 while the watch of Release states is live.", lambda: topology.live, min)
        age = "Time since the watch last spoke."
        gauge("aop_topology_age_seconds", age, lambda: topology.silent_seconds, max)
        gauge("aop_topology_releases", "Releases whose state is known.", topology.known_releases, min)

    def unsettled(self, facts: Callable[[], Unsettled]) -> None:
        gauge = self._unit.gauge
        gauge(
            "aop_ledger_unconfirmed_acceptances",
            "Acceptances of which nobody knows yet whether the store holds them.",
            lambda: facts().unconfirmed,
        )
        gauge("aop_ledger_deferred_terminals", "Terminals the store has not taken yet.", lambda: facts().deferred)
        gauge(
            "aop_ledger_denied_terminals",
            "Terminals the store denied; the next epoch ends these.",
            lambda: facts().left,
        )
        gauge(
            "aop_ledger_unsettled_seconds",
            "How long the oldest unconfirmed acceptance or deferred terminal has waited.",
            lambda: facts().seconds,
            max,
        )

    def numbering(self, sequencer: Sequencer) -> None:
        gauge = self._unit.gauge
        gauge(
            "aop_ledger_sequencer",
            "1 in the Router that gives events their numbers, 0 in the others.",
            lambda: sequencer.is_holder,
        )
        gauge(
            "aop_ledger_sequence_lag_seconds",
            "Time since all events that were found had their numbers; 0 where another Router numbers.",
            lambda: sequencer.lag_seconds,
            max,
        )
        gauge(
            "aop_ledger_unproven_events",
            "Numbered events that are not in the tree yet; 0 where another Router numbers.",
            lambda: sequencer.unproven,
        )
        gauge(
            "aop_ledger_tree_broken",
            "1 if the newest events are not those of the newest head, so that nothing is added to the tree.",
            lambda: sequencer.is_tree_broken,
        )

    def collect(self) -> Iterator[Metric]:
        chunks = CounterMetricFamily("aop_stream_chunks", "Chunks handed to callers.", labels=("unit",))
        chunks.add_metric((self._unit.unit,), self.chunks)
        yield chunks

    def _observe(self, name: str, text: str, buckets: tuple[float, ...] = BUCKETS) -> Observe:
        return Durations(self._unit.registry, name, text, ("unit",), buckets).of(self._unit.unit)
