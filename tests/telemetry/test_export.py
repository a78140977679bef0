"""Sending never stands in the way: a collector that is gone, slow or unwilling costs spans, which are counted."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import pytest
from prometheus_client import CollectorRegistry

from aop.base.loops import Loops
from aop.local.state import DatabaseUrls
from aop.net.http import HttpClient
from aop.net.origin import Endpoint
from aop.net.policy import Resolver, system_lookup
from aop.telemetry.export import Collector, Repeating, SpanCounts, SpanExport
from aop.telemetry.messages import origin_of
from aop.telemetry.spans import EndedSpan, SpanKind
from tests.support.collector import OtlpCollector, running_collector
from tests.support.loop import Changes, Platform, running_platform
from tests.support.metrics import numbers
from tests.support.waiting import becomes_true, generous

pytestmark = pytest.mark.second_ring

SAMPLED_OUT = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"}


def both(settings: Mapping[str, str]) -> Changes:
    return Changes(control_plane=settings, router=settings)


async def spans_counted(platform: Platform) -> tuple[float, float]:
    """By the Router: exported, lost."""
    found = await numbers(platform.router, "aop_telemetry_spans_total")
    return found[("exported",)], found[("lost",)]


async def lost(platform: Platform, number: int) -> None:
    async def counted() -> bool:
        return (await spans_counted(platform))[1] >= number

    await becomes_true(counted)


async def test_without_a_collector_agents_get_no_trace_context(stores: DatabaseUrls) -> None:
    async with running_platform(stores) as platform:
        assert (await platform.invoke()).status == 200
        assert platform.agent.calls("message/send")[-1].values("traceparent") == []
        assert "aop_telemetry" not in (await platform.router.get("/metrics")).body.decode()


async def test_a_dead_collector_loses_spans_and_nothing_else(stores: DatabaseUrls) -> None:
    async with running_collector() as gone:
        settings = gone.settings()
    async with running_platform(stores, both(settings)) as platform:
        for _ in range(3):
            assert (await platform.invoke()).status == 200
        await lost(platform, 15)
        assert (await spans_counted(platform))[0] == 0


@pytest.mark.parametrize("status", [400, 429, 503])
async def test_a_collector_that_says_no_is_not_asked_again_for_the_same_spans(
    stores: DatabaseUrls, status: int
) -> None:
    async with running_collector() as collector:
        collector.status = status
        settings = collector.settings()
        async with running_platform(stores, both(settings)) as platform:
            reply = await platform.invoke()
            await lost(platform, 5)
            collector.status = 200
            again = await platform.invoke()
            await collector.trace(again.json["traceId"], 6)
            sent = {span.trace_id for span in collector.spans if span.unit == "aop-router"}
            assert reply.json["traceId"] not in sent


async def test_spans_a_collector_rejects_count_as_lost(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        collector.rejected = 2
        async with running_platform(stores, both(collector.settings())) as platform:
            await platform.invoke()
            await lost(platform, 2)


async def test_a_full_queue_takes_no_more_and_a_silent_collector_delays_no_stop(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        collector.silent = True
        settings = collector.settings(OTEL_BSP_MAX_QUEUE_SIZE="7")
        async with running_platform(stores, both(settings)) as platform:
            for _ in range(4):
                assert (await platform.invoke()).status == 200
            await lost(platform, 5)
            stopping = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - stopping < generous(10)


class Reports(list[tuple[str, str | None]]):
    """What a unit would note in its log."""

    def __call__(self, event: str, cause: str | None) -> None:
        self.append((event, cause))


@asynccontextmanager
async def exporting(collector: OtlpCollector, reports: Reports) -> AsyncIterator[SpanExport]:
    """Spans on their way to that collector, sent every hundredth of a second."""
    client, loops = HttpClient(idle_seconds=1, connect_seconds=1), Loops(lambda _: lambda _: None)
    endpoint = Endpoint.parse(f"http://127.0.0.1:{collector.port}/v1/traces")
    sender = Collector(endpoint, client, Resolver(system_lookup), (), 5)
    origin = origin_of({"service.name": "aop-router"})
    export = SpanExport(sender, origin, SpanCounts(CollectorRegistry(), "router"), 100, 10)
    repeating = Repeating("traces", export.send, 0.01, loops, reports)
    yield export
    await repeating.close()
    await client.close()


async def test_a_turn_without_spans_is_no_recovery_while_a_collector_refuses_everything() -> None:
    span, reports = EndedSpan("a" * 32, "b" * 16, None, "n", SpanKind.SERVER, 1, 2, {}, False), Reports()
    async with running_collector() as collector, exporting(collector, reports) as export:
        collector.status = 502
        for number in range(1, 4):
            export.take([span])
            await becomes_true(partial(_reached, collector, number))
            await asyncio.sleep(0.05)  # several turns that have nothing to send
        assert reports == [("telemetry.lost", "traces: status 502")]
        # It answers well now, but takes none of the spans; and then it says more than there were.
        collector.status = 200
        for number, rejected in enumerate((1, 99), 4):
            collector.rejected = rejected
            export.take([span])
            await becomes_true(partial(_reached, collector, number))
        await asyncio.sleep(0.05)
        assert reports == [("telemetry.lost", "traces: status 502")]
        collector.rejected = 0
        export.take([span])
        await becomes_true(partial(_reported, reports, 2))
        assert reports[1:] == [("telemetry.recovered", "traces")]


async def _reached(collector: OtlpCollector, times: int) -> bool:
    return len(collector.headers) >= times


async def _reported(reports: Reports, times: int) -> bool:
    return len(reports) >= times


async def test_an_unsampled_trace_is_passed_on_as_such_and_not_exported(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        settings = collector.settings(**SAMPLED_OUT)
        async with running_platform(stores, both(settings)) as platform:
            reply = await platform.invoke()
            (parent,) = platform.agent.calls("message/send")[-1].values("traceparent")
        assert parent.startswith(f"00-{reply.json['traceId']}-")
        assert parent.endswith("-00")
        assert collector.spans == []


async def test_the_gateways_word_on_sampling_holds_at_the_router(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        changes = Changes(control_plane=collector.settings(), router=collector.settings(**SAMPLED_OUT))
        async with running_platform(stores, changes) as platform:
            reply = await platform.invoke()
            await collector.trace(reply.json["traceId"], 6)


async def test_what_is_queued_at_the_end_is_still_sent(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        settings = collector.settings(OTEL_BSP_SCHEDULE_DELAY="60000")
        async with running_platform(stores, both(settings)) as platform:
            reply = await platform.invoke()
            assert collector.spans == []
        assert len(await collector.trace(reply.json["traceId"], 6)) >= 6


async def test_headers_for_the_collector_are_sent_and_never_shown(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        settings = collector.settings(OTEL_EXPORTER_OTLP_HEADERS="x-api-key=canary%20key")
        async with running_platform(stores, both(settings)) as platform:
            reply = await platform.invoke()
            await collector.trace(reply.json["traceId"], 6)
            assert "canary" not in (await platform.router.get("/metrics")).body.decode()
        assert {sent[b"x-api-key"] for sent in collector.headers} == {b"canary key"}
        assert {sent[b"content-type"] for sent in collector.headers} == {b"application/x-protobuf"}
