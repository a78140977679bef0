"""Everything between a unit and its collector: made once, closed once."""

from collections.abc import Mapping

from aop.base.loops import Loops
from aop.net.http import HttpClient
from aop.net.policy import Resolver
from aop.telemetry.export import Collector, Repeating, Report, SpanCounts, SpanExport
from aop.telemetry.messages import origin_of
from aop.telemetry.settings import TelemetrySettings
from aop.telemetry.tracing import Tracing

_IDLE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0


class Pipeline:
    """`tracing` makes the spans of requests; they are sent until the pipeline is closed."""

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
