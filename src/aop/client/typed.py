"""Reads what an Agent returned as the type that the caller asked for."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar, get_args

import msgspec
from msgspec.inspect import CustomType, type_info

from aop.contracts.invocation import InvocationResult

M = TypeVar("M")

ReadValue = Callable[[msgspec.Raw], M]
"""Unfitting for a value that is not of the type."""

_PLACE: Final = re.compile(r" - at `(\$[^`]*)`")
# What these sentences repeat comes from the type alone, never from the value.
_OF_THE_TYPE: Final = ("Expected ", "Object missing required field ")


class Unfitting(Exception):
    """The value is not of the type; the text says where and repeats nothing of the value."""


@dataclass(frozen=True)
class Result(Generic[M]):
    """The result of one Invocation as the type that was asked for; the other members are those of InvocationResult."""

    value: M
    invocation_id: str
    root_task_id: str
    trace_id: str
    result: msgspec.Raw

    @classmethod
    def of(cls, found: InvocationResult, value: M) -> "Result[M]":
        return cls(value, found.invocation_id, found.root_task_id, found.trace_id, found.result)


def reader_of(kind: type[M]) -> ReadValue[M]:
    """For msgspec Structs, dataclasses, TypedDicts, plain types such as `list[int]`, and pydantic models.

    TypeError for a type of no such kind, before anything is sent.
    """
    hashable: Any = kind
    return _reader(hashable)


@cache
def _reader(kind: Any) -> ReadValue[Any]:
    if _is_of_pydantic(kind):
        return _pydantic_reader(kind)
    try:
        custom = isinstance(type_info(kind), CustomType)
        decode = msgspec.json.Decoder(kind).decode
    except TypeError as problem:
        raise TypeError(f"result_type cannot be read from JSON: {problem}") from None
    if custom:
        raise TypeError("result_type is no msgspec Struct, dataclass, TypedDict, plain type or pydantic model")

    def read(raw: msgspec.Raw) -> Any:
        try:
            return decode(raw)
        except msgspec.ValidationError as problem:
            raise Unfitting(_where(str(problem))) from problem

    return read


def name_of(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind)) if not get_args(kind) else str(kind)


def _where(text: str) -> str:
    place = _PLACE.search(text)
    at = "$" if place is None else place[1]
    return f"{at}: {_PLACE.sub('', text)}" if text.startswith(_OF_THE_TYPE) else at


def _is_of_pydantic(kind: Any) -> bool:
    return hasattr(kind, "__pydantic_validator__") or any(map(_is_of_pydantic, get_args(kind)))


def _pydantic_reader(kind: Any) -> ReadValue[Any]:
    # Whoever has such a model has imported the package, which this one does not depend on.
    pydantic = sys.modules["pydantic"]
    adapter = pydantic.TypeAdapter(kind)

    def read(raw: msgspec.Raw) -> Any:
        try:
            return adapter.validate_json(bytes(raw))
        except pydantic.ValidationError as problem:
            first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
            raise Unfitting(f"$.{'.'.join(_own_words(first['loc'], adapter))}: {first['type']}") from problem

    return read


def _own_words(place: tuple[int | str, ...], adapter: Any) -> Iterator[str]:
    """Positions and the names that the model declares; any other name may be the Agent's."""
    declared = set(_declared(adapter.json_schema()))
    return (str(part) if isinstance(part, int) or part in declared else "*" for part in place)


def _declared(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _declared(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _declared(value)
