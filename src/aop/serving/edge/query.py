"""Query parameters: closed sets, each given at most once, each with its own rule."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from aop.contracts.errors import InvalidRequest, Violation

QueryRules = Mapping[str, Callable[[str], Any]]
"""Parameter name to a reader of its text; a ValueError means the value is refused."""

_ESCAPES = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def read_query(query_string: bytes, rules: QueryRules) -> dict[str, Any]:
    if not query_string:
        return {}
    values: dict[str, Any] = {}
    violations: list[Violation] = []
    for pair in query_string.split(b"&"):
        try:
            name, text = _decoded(pair)
            violation = _take(name, text, rules, values)
        except ValueError:
            violation = Violation("", "query_value")
        if violation is not None:
            violations.append(violation)
    if violations:
        raise InvalidRequest(*violations)
    return values


def boolean(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError("not a boolean")
    return text == "true"


def _take(name: str, text: str, rules: QueryRules, values: dict[str, Any]) -> Violation | None:
    if name not in rules:
        return Violation("", "query_unknown")
    if name in values:
        return Violation(f"/{name}", "query_repeated")
    try:
        values[name] = rules[name](text)
    except ValueError:
        values[name] = None
        return Violation(f"/{name}", "query_value")
    return None


def _decoded(pair: bytes) -> tuple[str, str]:
    if _ESCAPES.search(pair):
        raise ValueError("broken percent-encoding")
    name, _, text = pair.replace(b"+", b" ").partition(b"=")
    return unquote_to_bytes(name).decode(), unquote_to_bytes(text).decode()
