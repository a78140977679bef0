"""An independent reading of strict JSON, on the standard library alone, to compare the platform's own with."""

import json
from typing import Any


class NotStrict(ValueError):
    """The text is no strict JSON."""


def reading(body: bytes, depth: int) -> Any:
    """The value with every number as it is written, so that two spellings of one number differ."""
    try:
        text = body.decode("utf-8")
        if text.startswith("\ufeff") or _deepest(text) > depth:
            raise NotStrict
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_Spelled, parse_int=_Spelled
        )
        _written(value).encode("utf-8")
    except (ValueError, RecursionError):
        raise NotStrict from None
    return value


class _Spelled(str):
    """A number as text; never equal to a string value, because that is a plain str."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Spelled) and str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotStrict
    return value


def _refused(_: str) -> None:
    raise NotStrict


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _deepest(text: str) -> int:
    """Levels of brackets outside strings; a text of one value alone has none, so it counts as one."""
    deepest = level = 0
    in_string = escaped = False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest
