"""The schemas of a tool, made of those of a Skill: objects on both sides, and exactly the Skill's values inside."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from aop.cards.graph import SchemaGraph
from aop.cards.positions import REFERENCES
from aop.contracts.text import cleaned

Schema = Mapping[str, object]

INPUT: Final = "input"
RESULT: Final = "result"
CHUNKS: Final = "chunks"

_TEXTS: Final = frozenset({"title", "description", "$comment"})
_LEFT_OUT: Final = frozenset({"x-mcp-header"})
"""It would make hosts copy arguments into headers, where proxies log them. The platform has no use for that."""
_LEFT_OUT_INSIDE: Final = frozenset({"$schema", "$id"})
"""Of the root, once it is inside another schema. Nothing refers to its `$id`: references of a Card begin with `#`."""


class InputSchema(NamedTuple):
    schema: dict[str, Any]
    wrapped: bool
    """Whether the input is the member `input` of the arguments; else the arguments are the input."""


def input_schema(schema: Schema) -> InputSchema:
    """The Skill's own schema where it allows only objects, as MCP asks for; else an object with one member."""
    graph = _graph(schema)
    if _allows_only_objects(schema, graph, frozenset()):
        made = _Copy(graph).of(schema)
        return InputSchema({"type": "object", **made, **_typed(made)}, wrapped=False)
    inside = _Copy(graph, INPUT).of(schema)
    return InputSchema(_object({INPUT: inside}, required=[INPUT]), wrapped=True)


def output_schema(schema: Schema, *, streaming: bool) -> dict[str, Any]:
    """`{result}`; of a streaming Agent also `{chunks}`, each of which the Skill's schema describes as well."""
    inside = _Copy(_graph(schema), RESULT).of(schema)
    if not streaming:
        return _object({RESULT: inside}, required=[RESULT])
    chunks = {"type": "array", "items": {"$ref": f"#/properties/{RESULT}"}}
    one = [{"required": [RESULT]}, {"required": [CHUNKS]}]
    return {**_object({RESULT: inside, CHUNKS: chunks}), "oneOf": one}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return made if required is None else {**made, "required": required}


def _typed(made: Schema) -> dict[str, Any]:
    """What MCP wants to see in the root: the one type, and members that are objects, as some clients insist."""
    members = made.get("properties")
    if not isinstance(members, dict):
        return {"type": "object"}
    return {"type": "object", "properties": {name: _as_object(member) for name, member in members.items()}}


def _as_object(schema: object) -> object:
    return schema if not isinstance(schema, bool) else {} if schema else {"not": {}}


def _graph(schema: Schema) -> SchemaGraph:
    graph = SchemaGraph(schema)
    if graph.has_references:
        graph.follow()
    return graph


class _Copy:
    """Copies a schema, as the root of another one or as one of its properties, to where its references then lead."""

    def __init__(self, graph: SchemaGraph, member: str | None = None) -> None:
        self._graph = graph
        self._prefix = "" if member is None else f"/properties/{member}"

    def of(self, schema: Schema) -> dict[str, Any]:
        copied = self._schema(schema)
        return {name: value for name, value in copied.items() if not self._prefix or name not in _LEFT_OUT_INSIDE}

    def _value(self, value: object) -> object:
        if isinstance(value, list):
            return [self._value(one) for one in value]
        if not isinstance(value, dict):
            return value
        if id(value) in self._graph.nodes:
            return self._schema(value)
        return {name: self._value(member) for name, member in value.items()}

    def _schema(self, schema: Schema) -> dict[str, Any]:
        moved = bool(self._prefix) and self._graph.is_of_root(id(schema))
        made: dict[str, Any] = {}
        for name, value in schema.items():
            if name in _LEFT_OUT:
                continue
            if name in _TEXTS and isinstance(value, str):
                made[name] = cleaned(value)
            elif moved and name in REFERENCES and _is_pointer(value):
                made[name] = f"#{self._prefix}{value[1:]}"
            else:
                made[name] = self._value(value)
        return made


def _is_pointer(reference: object) -> TypeGuard[str]:
    """Not an anchor: those are looked up by name, wherever they are."""
    return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))


def _allows_only_objects(schema: object, graph: SchemaGraph, entered: frozenset[int]) -> bool:
    """Whether that is certain. What is not is wrapped, which is never wrong."""
    if not isinstance(schema, dict) or id(schema) in entered:
        return schema is False

    def judge(part: object) -> bool:
        return _allows_only_objects(part, graph, entered | {id(schema)})

    if schema.get("type") in ("object", ["object"]):
        return True
    return (
        any(map(judge, _parts(schema, "allOf")))
        or any(bool(parts) and all(map(judge, parts)) for parts in (_parts(schema, "anyOf"), _parts(schema, "oneOf")))
        or _values_are_objects(schema)
        or judge(graph.target(schema))
    )


def _parts(schema: Schema, keyword: str) -> list[object]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _values_are_objects(schema: Schema) -> bool:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return isinstance(values, list) and bool(values) and all(isinstance(value, dict) for value in values)
