"""The semantic rules of an Agent Card, CARD-1 to CARD-6, on top of its schema."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aop.base.canonical import LARGEST_SAFE_INTEGER
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused, VettingExhausted
from aop.contracts.errors import Violation

_LIMITS = ("timeoutMs", "maxInputBytes", "maxOutputBytes")
_SCHEMAS = ("inputSchema", "outputSchema")
_MAX_INTEGER_DIGITS = 16


def card_violations(raw: bytes, card: Mapping[str, Any], vetting: SchemaVetting | None = None) -> Sequence[Violation]:
    """`card` is the parsed text of `raw` and already follows the Card's schema. NotInLoop where the vetting says so."""
    broken = [
        *_repeated(card["skills"], "/skills", "CARD-1"),
        *_repeated(card["permissions"], "/permissions", "CARD-2"),
        *_undeclared_permissions(card),
        *_limits_not_in_digits(card["limits"]),
        *_unsafe_numbers(raw),
    ]
    # A schema with an unsafe number has no canonical form, so the cost and size rules cannot be checked.
    return broken or _unusable_schemas(card["skills"], vetting or SchemaVetting())


def _repeated(items: Sequence[Mapping[str, Any]], pointer: str, rule: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        if item["id"] in seen:
            yield Violation(f"{pointer}/{index}/id", rule)
        seen.add(item["id"])


def _undeclared_permissions(card: Mapping[str, Any]) -> Iterator[Violation]:
    declared = {permission["id"] for permission in card["permissions"]}
    for index, skill in enumerate(card["skills"]):
        for position, permission in enumerate(skill["requiredPermissions"]):
            if permission not in declared:
                yield Violation(f"/skills/{index}/requiredPermissions/{position}", "CARD-3")


def _limits_not_in_digits(limits: Mapping[str, Any]) -> Iterator[Violation]:
    # The parser gives an int only for a number written with digits alone.
    for name in _LIMITS:
        if not isinstance(limits[name], int):
            yield Violation(f"/limits/{name}", "CARD-4")


class _Unsafe:
    """Stands for a number that other readers of the Card might not read alike."""


def _unsafe_numbers(raw: bytes) -> Iterator[Violation]:
    found: list[_Unsafe] = []

    def integer(text: str) -> int | _Unsafe:
        safe = len(text.lstrip("-")) <= _MAX_INTEGER_DIGITS and abs(int(text)) <= LARGEST_SAFE_INTEGER
        return int(text) if safe else _mark(found)

    def real(text: str) -> float | _Unsafe:
        return float(text) if math.isfinite(float(text)) else _mark(found)

    card = json.loads(raw, parse_int=integer, parse_float=real)
    if not found:
        return
    for pointer, schema in _skill_schemas(card["skills"]):
        if _holds_unsafe(schema):
            yield Violation(pointer, "CARD-5")


def _mark(found: list[_Unsafe]) -> _Unsafe:
    found.append(_Unsafe())
    return found[-1]


def _holds_unsafe(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_unsafe, value.values()))
    if isinstance(value, list):
        return any(map(_holds_unsafe, value))
    return isinstance(value, _Unsafe)


def _unusable_schemas(skills: Sequence[Mapping[str, Any]], vetting: SchemaVetting) -> Sequence[Violation]:
    broken: list[Violation] = []
    for pointer, schema in _skill_schemas(skills):
        try:
            vetting.require_usable(schema)
        except VettingExhausted:
            # Schemas reported before may have spent what this one lacks; it is judged once they are fixed.
            return broken or [Violation(pointer, "CARD-6")]
        except SkillSchemaRefused:
            broken.append(Violation(pointer, "CARD-6"))
    return broken


def _skill_schemas(skills: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, skill in enumerate(skills):
        for name in _SCHEMAS:
            yield f"/skills/{index}/{name}", skill[name]
