"""The OTEL_* settings: off unless a collector is named, and every problem by name, never by value."""

import subprocess
import sys

import pytest

from aop import __version__
from aop.base.settings import SettingsReader, SettingsRefused
from aop.control_plane.settings import read_control_plane_settings
from aop.router.settings import read_router_settings
from aop.telemetry.settings import TelemetrySettings, read_telemetry_settings
from aop.telemetry.tracing import Sampler
from tests.support.every import every
from tests.support.settings import control_plane_environment, router_environment

CANARY = "canary-value-4711"
HERE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


def settings(**environment: str) -> TelemetrySettings | None:
    reader = SettingsReader(environment)
    found = read_telemetry_settings(reader)
    reader.conclude()
    return found


def on(**environment: str) -> TelemetrySettings:
    found = settings(**{**HERE, **environment})
    assert found is not None
    return found


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_SERVICE_NAME": "mine", "OTEL_TRACES_SAMPLER": "always_on"},
        {**HERE, "OTEL_SDK_DISABLED": "true"},
        {**HERE, "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_sent_unless_a_collector_is_named(environment: dict[str, str]) -> None:
    assert settings(**environment) is None


def test_spans_go_to_their_path_below_the_collector_or_to_an_endpoint_of_their_own() -> None:
    found = on(OTEL_EXPORTER_OTLP_ENDPOINT="https://otel.example/base/")
    assert found.traces.canonical == "https://otel.example/base/v1/traces"
    own = settings(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://127.0.0.1:9/in")
    assert own is not None
    assert own.traces.canonical == "http://127.0.0.1:9/in"


@pytest.mark.parametrize(
    "environment",
    [
        {"OTEL_METRICS_EXPORTER": "otlp", "OTEL_METRIC_EXPORT_INTERVAL": "60000"},
        {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_METRIC_EXPORT_INTERVAL": "never"},
        {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "grpc://elsewhere"},
    ],
)
def test_settings_of_the_metrics_that_are_no_longer_sent_change_nothing(environment: dict[str, str]) -> None:
    assert settings(**environment) is None
    assert on(**environment) == on()


def test_headers_are_read_as_opentelemetry_writes_them_and_do_not_show() -> None:
    found = on(OTEL_EXPORTER_OTLP_HEADERS=f"Authorization=Bearer%20{CANARY}, x-tenant=a")
    assert found.header_lines() == ((b"authorization", f"Bearer {CANARY}".encode()), (b"x-tenant", b"a"))
    assert CANARY not in repr(found)


@pytest.mark.parametrize(
    ("environment", "sampler"),
    [
        ({}, Sampler(1.0, True)),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, Sampler(0.0, False)),
        ({"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"}, Sampler(0.25, False)),
        ({"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1"}, Sampler(1.0, True)),
    ],
)
def test_the_sampler_is_chosen_by_its_standard_name(environment: dict[str, str], sampler: Sampler) -> None:
    assert on(**environment).sampler == sampler


def test_a_ratio_keeps_its_share_of_the_traces_and_the_same_ones_everywhere() -> None:
    ids = [f"{'0' * 16}{number * 2**54:016x}" for number in range(1, 1000)]
    kept = [trace_id for trace_id in ids if Sampler(0.25).samples(trace_id)]
    assert len(kept) == 255
    assert all(Sampler(0.5).samples(trace_id) for trace_id in kept)


@every(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", CANARY),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://user:{CANARY}@host"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"grpc://{CANARY}"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", CANARY),
        ("OTEL_EXPORTER_OTLP_HEADERS", f"a={CANARY}%0d%0aX: y"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_TRACES_EXPORTER", "console"),
        ("OTEL_TRACES_SAMPLER", CANARY),
        ("OTEL_TRACES_SAMPLER_ARG", "0.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1.5"),
        ("OTEL_RESOURCE_ATTRIBUTES", CANARY),
        ("OTEL_SDK_DISABLED", "yes"),
    ],
)
def test_a_bad_value_stops_both_units_with_the_name_of_the_setting(name: str, value: str) -> None:
    for read, environment in (
        (read_control_plane_settings, control_plane_environment()),
        (read_router_settings, router_environment()),
    ):
        with pytest.raises(SettingsRefused) as refused:
            read({**environment, **HERE, name: value})
        assert {problem.name for problem in refused.value.problems} == {name}
        assert CANARY not in str(refused.value)


def test_a_unit_without_a_collector_loads_nothing_of_opentelemetry() -> None:
    code = (
        "import sys, aop.control_plane.app, aop.router.app, aop.serving.unit.background\n"
        "print([name for name in sys.modules if name.partition('.')[0] in {'opentelemetry', 'google'}])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_collector_without_the_extra_stops_the_start_with_what_to_install() -> None:
    code = (
        "import sys, asyncio\n"
        "sys.modules['opentelemetry'] = None\n"
        "from contextlib import AsyncExitStack\n"
        "from aop.base.loops import Loops\n"
        "from aop.net.policy import Resolver, system_lookup\n"
        "from aop.base.settings import SettingsReader\n"
        "from aop.serving.edge.metrics import UnitMetrics\n"
        "from aop.serving.edge.request_log import UnitLog\n"
        "from aop.serving.unit.background import UnitContext, start_telemetry\n"
        "from aop.serving.unit.unit_settings import CannotStart\n"
        "from aop.telemetry.settings import read_telemetry_settings\n"
        "async def main():\n"
        "    log, metrics = UnitLog('router'), UnitMetrics('router')\n"
        "    loops = Loops(lambda _: lambda _: None)\n"
        "    observed = UnitContext(log, metrics, loops, Resolver(system_lookup))\n"
        f"    settings = read_telemetry_settings(SettingsReader({HERE!r}))\n"
        "    try:\n"
        "        start_telemetry(settings, observed, AsyncExitStack())\n"
        "    except CannotStart as problem:\n"
        "        print(problem)\n"
        "asyncio.run(main())\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == (
        "OTEL_EXPORTER_OTLP_ENDPOINT: sending telemetry needs the extra otel:"
        f" pip install 'agent-operating-platform[otel] @"
        f" file:///PATH/agent_operating_platform-{__version__}-py3-none-any.whl'"
        " (the package is not on PyPI: `./dev wheel` in a clone of the project builds this file)"
    )
