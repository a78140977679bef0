"""Input and output against the Skill's schemas; a large value is checked in a thread, under the caller's deadline."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import jsonschema_rs

from aop.base import json
from aop.contracts.documents import explained
from aop.contracts.errors import InvalidRequest, Violation

T = TypeVar("T")

IN_THREAD_BYTES = 64 * 1024


async def require_input(validator: jsonschema_rs.Draft202012Validator, value: object, size: int) -> None:
    """InvalidRequest with violations under `/input`."""

    def violations() -> tuple[Violation, ...]:
        return () if validator.is_valid(value) else explained(validator, value, ("input",))

    found = await _run(violations, size)
    if found:
        raise InvalidRequest(*found)


async def conforms(validator: jsonschema_rs.Draft202012Validator, value: bytes) -> bool:
    """Whether an output value, given as its bytes, follows the schema."""
    return await _run(lambda: validator.is_valid(json.parse(value, json.UNIT_DEPTH)), len(value))


async def _run(check: Callable[[], T], size: int) -> T:
    return check() if size <= IN_THREAD_BYTES else await asyncio.to_thread(check)
