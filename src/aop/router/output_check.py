"""Input and output against the Skill's schemas; a large value is checked in a thread, under the caller's deadline."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import jsonschema_rs
import msgspec

from aop.base import json
from aop.contracts.documents import explained
from aop.contracts.errors import InvalidRequest, Violation

T = TypeVar("T")

IN_THREAD_BYTES = 64 * 1024
_decode = msgspec.json.Decoder().decode


async def require_input(validator: jsonschema_rs.Draft202012Validator, value: object, size: int) -> None:
    """InvalidRequest with violations under `/input`."""

    def violations() -> tuple[Violation, ...]:
        return () if validator.is_valid(value) else explained(validator, value, ("input",))

    found = await _run(violations, size)
    if found:
        raise InvalidRequest(*found)


async def conforms(validator: jsonschema_rs.Draft202012Validator, value: bytes) -> bool:
    """Whether an output value, given as the bytes it has in an answer that was read strictly, follows the schema."""
    return await _run(lambda: validator.is_valid(read_output(value)), len(value))


def read_output(value: bytes) -> object:
    """As the schema check is to see it."""
    if not json.has_long_digits(value):
        try:
            return _decode(value)
        except msgspec.DecodeError:
            pass  # a number with an exponent too large for it
    return json.parse(value, json.UNIT_DEPTH)


async def _run(check: Callable[[], T], size: int) -> T:
    return check() if size <= IN_THREAD_BYTES else await asyncio.to_thread(check)
