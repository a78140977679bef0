"""Sends spans and metrics in the background: bounded, in nobody's way; what cannot be sent is lost and counted."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import islice

from prometheus_client import CollectorRegistry, Counter

from aop.telemetry.collector import Collector, NotTaken
from aop.telemetry.metric_messages import metrics_request
from aop.telemetry.resource import Origin
from aop.telemetry.span_messages import rejected_spans, trace_request
from aop.telemetry.spans import EndedSpan

Tell = Callable[[str, str | None], None]
"""Notes an event of the unit and its cause."""

CLOSING_SECONDS = 2.0
_AT_A_TIME = 32
"""How many spans are encoded before others get a turn: about a millisecond of work."""


class SpanExport:
    """A full queue takes no more; a collector that does not answer costs the spans of the batch, nothing else."""

    def __init__(self, collector: Collector, origin: Origin, counts: "SpanCounts", most: int, batch: int) -> None:
        self._collector = collector
        self._origin = origin
        self._counts = counts
        self._most = most
        self._batch = batch
        self._queue: deque[EndedSpan] = deque()
        self.full: Callable[[], None] = lambda: None
        """Called when there is enough for a batch."""

    def take(self, spans: Sequence[EndedSpan]) -> None:
        room = self._most - len(self._queue)
        self._queue.extend(spans[:room])
        if len(spans) > room:
            self._counts.lost(len(spans) - room)
        if len(self._queue) >= self._batch:
            self.full()

    async def send(self) -> None:
        """Everything that is queued now; NotTaken when some of it could not be sent."""
        for _ in range(0, len(self._queue), self._batch):
            await self._send_batch()

    async def _send_batch(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(self._batch, len(self._queue)))]
        left = len(batch)
        try:
            rejected = rejected_spans(await self._collector.send(await self._encoded(batch)))
            self._counts.exported(left - rejected)
            left = rejected
        finally:
            self._counts.lost(left)

    async def _encoded(self, batch: Sequence[EndedSpan]) -> bytes:
        # Encoded messages that follow each other are one message with the lists of all of them.
        pieces, spans = [], iter(batch)
        while piece := tuple(islice(spans, _AT_A_TIME)):
            pieces.append(trace_request(self._origin, piece))
            await asyncio.sleep(0)
        return b"".join(pieces)


class SpanCounts:
    def __init__(self, registry: CollectorRegistry, unit: str) -> None:
        counter = Counter(
            "aop_telemetry_spans_total",
            "Spans a collector took (exported) and spans that could not be sent (lost).",
            ("unit", "outcome"),
            registry=registry,
        )
        self.exported = counter.labels(unit, "exported").inc
        self.lost = counter.labels(unit, "lost").inc


class MetricExport:
    def __init__(
        self,
        collector: Collector,
        origin: Origin,
        registry: CollectorRegistry,
        judge: Callable[[], Awaitable[object]],
    ) -> None:
        self._collector = collector
        self._origin = origin
        self._registry = registry
        self._judge = judge
        self._began = time.time_ns()

    async def send(self) -> None:
        await self._judge()
        await self._collector.send(metrics_request(self._origin, self._registry, self._began, time.time_ns()))


class Repeating:
    """Calls `send` at least every so many seconds, sooner when `due` is set, and once more at the end."""

    def __init__(self, name: str, send: Callable[[], Awaitable[None]], seconds: float, tell: Tell) -> None:
        self.due = asyncio.Event()
        self._name = name
        self._send = send
        self._seconds = seconds
        self._tell = tell
        self._fine = True
        self._closing = False
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Waits for what is being sent and for the rest, but not long."""
        self._closing = True
        self.due.set()
        await asyncio.wait({self._task}, timeout=CLOSING_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
            self._tell("telemetry.lost", f"{self._name}: the unit ended")

    async def _run(self) -> None:
        while not self._closing:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self.due.wait()
            self.due.clear()
            await self._turn()

    async def _turn(self) -> None:
        """Tells of the first failure and of the first success behind it, not of each."""
        cause = None
        try:
            await self._send()
        except NotTaken as refused:
            cause = f"{self._name}: {refused}"
        except Exception as fault:  # noqa: BLE001  one turn that fails in an unforeseen way must not be the last
            cause = f"{self._name}: {type(fault).__name__}"
        if cause is None and not self._fine:
            self._tell("telemetry.recovered", self._name)
        elif cause is not None and self._fine:
            self._tell("telemetry.lost", cause)
        self._fine = cause is None
