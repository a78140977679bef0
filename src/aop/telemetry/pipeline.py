"""Everything between a unit and its collectors: made once, closed once."""

from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CollectorRegistry

from aop.base.loops import Loops
from aop.net.http import HttpClient
from aop.net.origin import Endpoint
from aop.net.policy import Resolver
from aop.telemetry.export import Collector, MetricExport, Repeating, Send, SpanCounts, SpanExport, Tell
from aop.telemetry.messages import origin_of
from aop.telemetry.settings import TelemetrySettings
from aop.telemetry.tracing import Tracing

_IDLE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0


class Pipeline:
    def __init__(
        self,
        settings: TelemetrySettings,
        resolver: Resolver,
        resource: Mapping[str, str],
        loops: Loops,
        tell: Tell,
    ) -> None:
        self._settings = settings
        self._resolver = resolver
        self._origin = origin_of(resource)
        self._loops = loops
        self._tell = tell
        self._client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS)
        self._sending: list[Repeating] = []

    def trace(self, endpoint: Endpoint, registry: CollectorRegistry, unit: str) -> Tracing:
        settings = self._settings
        counts = SpanCounts(registry, unit)
        export = SpanExport(self._collector(endpoint), self._origin, counts, settings.max_queued, settings.max_in_batch)
        export.full = self._repeat("traces", export.send, settings.batch_seconds).due.set
        return Tracing(settings.sampler, export.take)

    def send_metrics(
        self, endpoint: Endpoint, registry: CollectorRegistry, judge: Callable[[], Awaitable[object]]
    ) -> None:
        export = MetricExport(self._collector(endpoint), self._origin, registry, judge)
        self._repeat("metrics", export.send, self._settings.metric_seconds)

    async def close(self) -> None:
        """Sends what there is, if that can be done soon."""
        for sending in self._sending:
            await sending.close()
        await self._client.close()

    def _repeat(self, name: str, send: Send, seconds: float) -> Repeating:
        self._sending.append(Repeating(name, send, seconds, self._loops, self._tell))
        return self._sending[-1]

    def _collector(self, endpoint: Endpoint) -> Collector:
        headers, seconds = self._settings.header_lines(), self._settings.send_seconds
        return Collector(endpoint, self._client, self._resolver, headers, seconds)
