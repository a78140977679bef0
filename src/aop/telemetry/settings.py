"""Settings of telemetry: the standard OTEL_* names that have a meaning here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from aop.base import settings as read
from aop.base.settings import Secret
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint
from aop.telemetry.tracing import Sampler

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SAMPLER_ARG = "OTEL_TRACES_SAMPLER_ARG"
_SAMPLERS: Mapping[str, tuple[float | None, bool]] = {
    "always_on": (1.0, False),
    "always_off": (0.0, False),
    "traceidratio": (None, False),
    "parentbased_always_on": (1.0, True),
    "parentbased_always_off": (0.0, True),
    "parentbased_traceidratio": (None, True),
}
_NO_ATTRIBUTES: Mapping[str, str] = {}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_RATIO = re.compile(r"0(?:\.[0-9]{1,17})?|1(?:\.0{1,17})?", re.ASCII)


@dataclass(frozen=True)
class TelemetrySettings:
    """Metrics are not sent: a collector scrapes `/metrics`."""

    traces: Endpoint
    headers: Secret
    """As the operator wrote them; `header_lines` reads them."""
    send_seconds: float
    sampler: Sampler
    max_queued: int
    max_in_batch: int
    batch_seconds: float
    service_name: str | None
    resource: Mapping[str, str]

    def header_lines(self) -> Sequence[tuple[bytes, bytes]]:
        pairs = read_pairs(self.headers.reveal())
        return tuple((name.lower().encode("ascii"), value.encode("ascii")) for name, value in pairs.items())


def read_telemetry_settings(reader: read.SettingsReader) -> TelemetrySettings | None:
    """None, and nothing of telemetry is ever loaded, unless a collector is named for spans."""
    endpoint = _read_endpoint(reader)
    reader.optional("OTEL_EXPORTER_OTLP_PROTOCOL", read.choice("http/protobuf"), "")
    settings = partial(
        TelemetrySettings,
        headers=reader.optional("OTEL_EXPORTER_OTLP_HEADERS", _headers, Secret("")),
        send_seconds=reader.optional("OTEL_EXPORTER_OTLP_TIMEOUT", _seconds(60_000), 10.0),
        sampler=_read_sampler(reader),
        max_queued=reader.optional("OTEL_BSP_MAX_QUEUE_SIZE", read.integer(1, 1_000_000), 8192),
        max_in_batch=reader.optional("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", read.integer(1, 10_000), 512),
        batch_seconds=reader.optional("OTEL_BSP_SCHEDULE_DELAY", _seconds(60_000), 1.0),
        service_name=reader.optional("OTEL_SERVICE_NAME", read.visible_ascii, None),
        resource=reader.optional("OTEL_RESOURCE_ATTRIBUTES", read_pairs, _NO_ATTRIBUTES),
    )
    disabled = reader.optional("OTEL_SDK_DISABLED", read.choice("true", "false"), "false") == "true"
    return None if disabled or endpoint is None else settings(traces=endpoint)


def read_pairs(text: str) -> Mapping[str, str]:
    """`name=value,name=value`, values percent-encoded, as OpenTelemetry writes headers and resource attributes."""
    pairs: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise ValueError("must be name=value pairs with commas between them")
        pairs[name.strip()] = unquote(value.strip())
    return pairs


def _read_endpoint(reader: read.SettingsReader) -> Endpoint | None:
    """Where spans go: to an endpoint of their own, used as it stands, or to their path at the collector."""
    base = reader.optional(ENDPOINT, _endpoint, None)
    own = reader.optional("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", _endpoint, None)
    if reader.optional("OTEL_TRACES_EXPORTER", read.choice("otlp", "none"), "otlp") == "none":
        return None
    if own is None and base is not None:
        return Endpoint(base.scheme, base.host, base.port, f"{base.path.rstrip('/')}/v1/traces")
    return own


def _read_sampler(reader: read.SettingsReader) -> Sampler:
    name = reader.optional("OTEL_TRACES_SAMPLER", read.choice(*_SAMPLERS), "parentbased_always_on")
    ratio = reader.optional(_SAMPLER_ARG, _ratio, None)
    fixed, parent_based = _SAMPLERS.get(name, (1.0, True))
    if fixed is not None and ratio is not None:
        reader.refuse(_SAMPLER_ARG, "needs OTEL_TRACES_SAMPLER to be traceidratio or parentbased_traceidratio")
    return Sampler(fixed if fixed is not None else 1.0 if ratio is None else ratio, parent_based)


def _endpoint(text: str) -> Endpoint:
    return Endpoint.parse(addresses.http_url(text))


def _seconds(max_milliseconds: int) -> read.Parse[float]:
    milliseconds = read.integer(1, max_milliseconds)
    return lambda text: milliseconds(text) / 1000


def _ratio(text: str) -> float:
    if _RATIO.fullmatch(text) is None:
        raise ValueError("must be a number between 0 and 1, such as 0.1")
    return float(text)


def _headers(text: str) -> Secret:
    for name, value in read_pairs(text).items():
        if _HEADER_NAME.fullmatch(name) is None or _HEADER_VALUE.fullmatch(value) is None:
            raise ValueError("holds what cannot stand in a header")
    return Secret(text)
