"""Who sends: the unit as an OTLP resource."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from aop.telemetry.spans import Attributes


@dataclass(frozen=True)
class Origin:
    resource: Resource
    scope: InstrumentationScope


def origin_of(attributes: Mapping[str, str]) -> Origin:
    return Origin(
        Resource(attributes=attribute_messages(attributes)), InstrumentationScope(name="aop", version=_version())
    )


def attribute_messages(attributes: Attributes) -> list[KeyValue]:
    return [KeyValue(key=name, value=_value(value)) for name, value in attributes.items()]


def _value(value: str | int | bool) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(bool_value=value) if isinstance(value, bool) else AnyValue(int_value=value)


def _version() -> str:
    try:
        return version("aop")
    except PackageNotFoundError:  # run from its sources
        return ""
