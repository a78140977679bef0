"""Sends spans in the background: bounded, without delaying any request; what cannot be sent is lost and counted."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from prometheus_client import CollectorRegistry, Counter

from aop.base.loops import Loops
from aop.net.http import HttpClient, HttpError
from aop.net.origin import Endpoint
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved, Resolver
from aop.telemetry.messages import Origin, origin_of, rejected_spans, trace_request
from aop.telemetry.settings import TelemetrySettings
from aop.telemetry.spans import EndedSpan
from aop.telemetry.tracing import Tracing

Send = Callable[[], Awaitable[bool]]
"""Sends what there is; says whether the collector took anything. NotTaken when something could not be sent."""
Report = Callable[[str, str | None], None]
"""Logs an event of the unit and its cause."""

CLOSING_SECONDS = 2.0
_IDLE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0
_MAX_ANSWER_BYTES = 64 * 1024
_AT_A_TIME = 32
"""How many spans are encoded before others get a turn: about a millisecond of work."""


class NotTaken(Exception):
    """The collector is out of reach, too slow, or refused; the text is for the log."""


class Collector:
    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        resolver: Resolver,
        headers: Sequence[tuple[bytes, bytes]],
        seconds: float,
    ) -> None:
        self._peer = Peer(endpoint.origin, client, resolver)
        self._path = endpoint.path
        self._headers = (*headers, (b"content-type", b"application/x-protobuf"))
        self._seconds = seconds

    async def send(self, body: bytes) -> bytes:
        """The body of its answer, once it has taken the request."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            answer = await self._peer.post(
                self._path, self._headers, body, deadline=deadline, max_body=_MAX_ANSWER_BYTES
            )
        except (HttpError, NameNotResolved, TimeoutError) as failure:
            raise NotTaken(type(failure).__name__) from failure
        if not 200 <= answer.status < 300:
            raise NotTaken(f"status {answer.status}")
        return answer.body


class SpanExport:
    """A full queue takes no more; a collector that does not answer costs the spans of the batch, nothing else."""

    def __init__(self, collector: Collector, origin: Origin, counts: "SpanCounts", max_queued: int, batch: int) -> None:
        self._collector = collector
        self._origin = origin
        self._counts = counts
        self._max_queued = max_queued
        self._batch = batch
        self._queue: deque[EndedSpan] = deque()
        self.full: Callable[[], None] = lambda: None
        """Called when there is enough for a batch."""

    def take(self, spans: Sequence[EndedSpan]) -> None:
        room = self._max_queued - len(self._queue)
        self._queue.extend(spans[:room])
        if len(spans) > room:
            self._counts.lost(len(spans) - room)
        if len(self._queue) >= self._batch:
            self.full()

    async def send(self) -> bool:
        """Everything that is queued now."""
        taken = [await self._send_batch() for _ in range(0, len(self._queue), self._batch)]
        return any(taken)

    async def _send_batch(self) -> bool:
        """Whether the collector took any of the batch: it may reject all spans of a request that it answers well."""
        batch = [self._queue.popleft() for _ in range(min(self._batch, len(self._queue)))]
        left = len(batch)
        try:
            rejected = min(rejected_spans(await self._collector.send(await self._encoded(batch))), left)
            self._counts.exported(left - rejected)
            left = rejected
            return rejected < len(batch)
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


class Repeating:
    """Calls `send` at least every so many seconds, sooner when `due` is set, and once more at the end."""

    def __init__(self, name: str, send: Send, seconds: float, loops: Loops, report: Report) -> None:
        self.due = asyncio.Event()
        self._name = name
        self._send = send
        self._seconds = seconds
        self._report = report
        self._fine = True
        self._sending = asyncio.Lock()
        # Nobody who calls the platform needs it: a unit whose telemetry fails is ready all the same.
        self._loop = loops.start(f"telemetry {name}", self._turn, needed=False)

    async def close(self) -> None:
        """Waits for what is being sent and sends the rest, but not for long."""
        try:
            async with asyncio.timeout(CLOSING_SECONDS), self._sending:
                await self._loop.close()
                await self._send_and_report()
        except TimeoutError:
            self._report("telemetry.lost", f"{self._name}: the unit ended")
        except Exception:  # noqa: BLE001, S110  reported already, and a unit that ends has nothing better to do
            pass
        finally:
            await self._loop.close()

    async def _turn(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                await self.due.wait()
        self.due.clear()
        async with self._sending:
            await self._send_and_report()

    async def _send_and_report(self) -> None:
        """Reports the first failure and the first success after it, not each; a turn that had nothing to send
        is neither."""
        try:
            taken = await self._send()
        except NotTaken as refused:
            self._lost(str(refused))
        except Exception as fault:
            self._lost(type(fault).__name__)
            raise
        else:
            if taken and not self._fine:
                self._report("telemetry.recovered", self._name)
            self._fine = self._fine or taken

    def _lost(self, cause: str) -> None:
        if self._fine:
            self._report("telemetry.lost", f"{self._name}: {cause}")
        self._fine = False


class Pipeline:
    """Everything between a unit and its collector.

    `tracing` makes the spans of requests; they are sent until the pipeline is closed.
    """

    def __init__(
        self,
        settings: TelemetrySettings,
        resolver: Resolver,
        resource: Mapping[str, str],
        loops: Loops,
        report: Report,
        counts: SpanCounts,
    ) -> None:
        self._client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS)
        collector = Collector(settings.traces, self._client, resolver, settings.header_lines(), settings.send_seconds)
        export = SpanExport(collector, origin_of(resource), counts, settings.max_queued, settings.max_in_batch)
        self._sending = Repeating("traces", export.send, settings.batch_seconds, loops, report)
        export.full = self._sending.due.set
        self.tracing = Tracing(settings.sampler, export.take)

    async def close(self) -> None:
        """Sends what there is, if that can be done soon."""
        await self._sending.close()
        await self._client.close()
