"""What belongs at a place of an input, in words, from the inputSchema of the Skill."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aop.client import Client
from aop.contracts.errors import Violation
from aop.contracts.workspace import InstallationStatus

_INPUT: Final = "/input"
_MAX_VALUES: Final = 8
_MAX_STEPS: Final = 64
_TYPES: Final = {
    "string": "a text",
    "object": "an object",
    "array": "an array",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_LIMITS: Final = (
    ("minLength", "of length {} or more"),
    ("maxLength", "of length {} or less"),
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minItems", "with {} or more items"),
    ("maxItems", "with {} or fewer items"),
    ("pattern", "of the form {}"),
    ("format", "of the format {}"),
)


async def forms_of(
    client: Client, workspace: str, agent: str, skill: str, violations: Sequence[Violation]
) -> Mapping[str, str]:
    """By the pointer of each violation inside the input; only what the Card of the installed version says."""
    pointers = [one.pointer for one in violations if one.pointer.startswith(_INPUT)]
    if not pointers:
        return {}
    async for one in client.list_installations(workspace):
        if one.agent_id == agent and one.status is not InstallationStatus.UNINSTALLED:
            card = (await client.read_agent_card(agent, one.installed_version)).card
            for found in card.skills:
                if found.id == skill:
                    schema = msgspec.json.decode(found.input_schema)
                    forms = {pointer: form_of(schema, pointer.removeprefix(_INPUT)) for pointer in pointers}
                    return {pointer: form for pointer, form in forms.items() if form}
    return {}


def form_of(schema: Any, pointer: str) -> str | None:
    """What the schema says of this place itself; None where it says nothing that words can express.

    >>> form_of({"properties": {"n": {"type": "integer", "minimum": 1}}}, "/n")
    'a whole number, at least 1'
    """
    place = schema
    for token in pointer.split("/")[1:]:
        place = _resolved(schema, place)
        name = token.replace("~1", "/").replace("~0", "~")
        members = place.get("properties", {})
        place = members[name] if name in members else place.get("items")
        if not isinstance(place, dict):
            return None
    return _words(_resolved(schema, place))


def _resolved(schema: Any, place: Any) -> dict[str, Any]:
    """References to the schema's own definitions are followed, a limited number of times."""
    for _ in range(_MAX_STEPS):
        reference = place.get("$ref") if isinstance(place, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            break
        place = schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
    return place if isinstance(place, dict) else {}


def _words(place: dict[str, Any]) -> str | None:
    if "const" in place:
        return msgspec.json.encode(place["const"]).decode()[:200]
    values = place.get("enum")
    if isinstance(values, list):
        shown = ", ".join(msgspec.json.encode(value).decode() for value in values[:_MAX_VALUES])
        return f"one of {shown}{' …' if len(values) > _MAX_VALUES else ''}"[:200]
    kinds = place.get("type", [])
    names = [_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind in _TYPES]
    limits = [text.format(place[keyword]) for keyword, text in _LIMITS if keyword in place]
    return ", ".join([*([" or ".join(names)] if names else []), *limits])[:200] or None
