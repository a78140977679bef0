"""Edits of a schema as people make them from one version to the next."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.cards.hostile import Schema

_ADDED: tuple[Schema, ...] = ({"type": "string"}, {"type": "integer", "minimum": 1}, {"enum": ["a", "b"]}, {})


def places(schema: Any) -> Iterator[Schema]:
    """The subschemas that an edit may change, the schema itself first."""
    if not isinstance(schema, dict):
        return
    yield schema
    for member in schema.get("properties", {}).values():
        yield from places(member)
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("$defs", {}).values()):
        yield from places(branch)
    if "items" in schema:
        yield from places(schema["items"])


def _added_member(pick: random.Random, place: Schema) -> bool:
    return _changed(place, "properties", lambda now: {**now, "added": copy.deepcopy(pick.choice(_ADDED))})


def _new_required(pick: random.Random, place: Schema) -> bool:
    absent = [name for name in place.get("properties", ()) if name not in place.get("required", ())]
    return bool(absent) and _changed(place, "required", lambda now: [*now, pick.choice(absent)])


def _removed_member(pick: random.Random, place: Schema) -> bool:
    if not place.get("properties"):
        return False
    gone = pick.choice(list(place["properties"]))
    place["required"] = [name for name in place.get("required", ()) if name != gone]
    return _changed(place, "properties", lambda now: {name: one for name, one in now.items() if name != gone})


def _closed_or_opened(_: random.Random, place: Schema) -> bool:
    if "properties" not in place:
        return False
    place["additionalProperties"] = place.get("additionalProperties", True) is False
    return True


def _moved_bound(pick: random.Random, place: Schema) -> bool:
    bounds = ("minimum", "maximum", "minLength", "maxLength", "maxItems")
    held = [name for name in bounds if name in place]
    step = pick.choice((-1, 1))
    return bool(held) and _changed(place, pick.choice(held), lambda now: max(now + step, 0))


def _other_choices(pick: random.Random, place: Schema) -> bool:
    if "enum" not in place:
        return False
    more = pick.random() < 0.5
    return _changed(place, "enum", lambda now: [*now, "added"] if more else now[:-1] or now)


def _other_type(_: random.Random, place: Schema) -> bool:
    wider: dict[str, Any] = {"integer": "number", "string": ["string", "null"], "boolean": "string", "array": "object"}
    named = place.get("type")
    return isinstance(named, str) and named in wider and _changed(place, "type", lambda now: wider[now])


def _other_branches(pick: random.Random, place: Schema) -> bool:
    keyword = next((name for name in ("oneOf", "anyOf") if name in place), None)
    if keyword is None:
        return False
    added = {"type": "object", "properties": {"kind": {"const": "added"}}, "required": ["kind"]}
    more = pick.random() < 0.5
    return _changed(place, keyword, lambda now: [*now, added] if more else now[:1])


def _other_text(_: random.Random, place: Schema) -> bool:
    place["description"] = "Says it better."
    return True


def _changed(place: Schema, keyword: str, change: Callable[[Any], Any]) -> bool:
    if keyword not in place:
        return False
    place[keyword] = change(place[keyword])
    return True


EDITS: dict[str, Callable[[random.Random, Schema], bool]] = {
    "added_member": _added_member,
    "new_required": _new_required,
    "removed_member": _removed_member,
    "closed_or_opened": _closed_or_opened,
    "moved_bound": _moved_bound,
    "other_choices": _other_choices,
    "other_type": _other_type,
    "other_branches": _other_branches,
    "other_text": _other_text,
}
