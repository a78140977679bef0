"""Strict JSON as the standard library reads it, with our rules around it: what our own reader is held to."""

import json
import re
from itertools import accumulate
from typing import Any

_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)


class NotStrict(ValueError):
    """The text is no strict JSON."""


def reading(body: bytes, depth: int) -> Any:
    """The value with every number as it is written, so that two spellings of one number differ."""
    try:
        text = body.decode("utf-8")
        if text.startswith("\ufeff") or _deepest(text) > depth:
            raise NotStrict
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_spelled, parse_int=_spelled
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise NotStrict from None
    return value


def _spelled(number: str) -> tuple[str]:
    """As text, but equal to no string and no array."""
    return (number,)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotStrict
    return value


def _refused(_: str) -> None:
    raise NotStrict


def _deepest(text: str) -> int:
    """Levels of brackets outside strings; a text of one value alone has none."""
    brackets = (character for character in _STRING.sub("", text) if character in "[]{}")
    return max(accumulate(1 if character in "[{" else -1 for character in brackets), default=0)
