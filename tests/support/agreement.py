"""Compares hand-written readers with the schemas they read, member by member and all the way down."""

import json
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import msgspec

from aop.contracts.documents import schemas
from aop.contracts.errors import ErrorCode

Schema = Mapping[str, typing.Any]

_JSON_TYPES: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}


@dataclass(frozen=True)
class Place:
    """A schema with its references and unconditional branches merged, and where it stands."""

    schema: Schema
    name: str

    def inside(self, keyword: str, schema: Schema) -> "Place":
        return place(schema, f"{self.name}/{keyword}")


def place(schema: Schema, name: str) -> Place:
    merged: dict[str, typing.Any] = {"properties": {}, "required": []}
    for part in _unconditional(schema):
        for member, rule in part.get("properties", {}).items():
            earlier = merged["properties"].get(member)
            merged["properties"][member] = rule if earlier is None else {"allOf": [earlier, rule]}
        merged["required"] += part.get("required", [])
        for keyword, value in part.items():
            merged.setdefault(keyword, value)
    return Place(merged, name)


def named(document: str) -> Place:
    base, _, definition = document.partition("#")
    return place(
        _resolved("urn:aop:contract:" + base.replace("/", ":") + ("#/$defs/" + definition) * bool(definition)), document
    )


def options_of(reader: object) -> tuple[object, ...]:
    union = isinstance(reader, types.UnionType) or typing.get_origin(reader) is typing.Union
    return typing.get_args(reader) if union else (reader,)


def knows(reader: object, path: Sequence[str], rule: str) -> bool:
    """Whether the reader by itself can refuse a value that breaks the rule of shape at that path."""
    options = options_of(reader)
    if msgspec.Raw in options:
        return False
    if not path:
        plain = all(option in _JSON_TYPES for option in options)
        return rule not in {"enum", "const"} or not (plain or ErrorCode in options)
    for option in options:
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            fields = {field.encode_name: field.type for field in msgspec.structs.fields(option)}
            return path[0] in fields and knows(fields[path[0]], path[1:], rule)
        if typing.get_origin(option) is tuple:
            return knows(typing.get_args(option)[0], path[1:], rule)
    return False


def disagreements(reader: object, at: Place) -> Iterator[str]:
    """Every way in which the reader and the schema differ; nothing when they agree."""
    options = [option for option in options_of(reader) if option is not msgspec.UnsetType]
    if msgspec.Raw in options:
        return
    solid = [option for option in options if option is not types.NoneType]
    if len(solid) == 1 and (types.NoneType in options) != ("null" in _types(at.schema)):
        yield f"{at.name}: null is allowed on one side only"
    elif len(solid) > 1:
        yield from _differing_types(options, at)
    else:
        yield from _one(solid[0], at)


def is_open(reader: object) -> bool:
    """Whether somewhere inside the reader members it does not name are ignored."""
    for option in options_of(reader):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            fields = msgspec.structs.fields(option)
            if not option.__struct_config__.forbid_unknown_fields or any(is_open(field.type) for field in fields):
                return True
        elif typing.get_origin(option) is tuple and is_open(typing.get_args(option)[0]):
            return True
    return False


def _one(reader: typing.Any, at: Place) -> Iterator[str]:
    if typing.get_origin(reader) is tuple:
        item = at.schema.get("items")
        if item is None:
            yield f"{at.name}: a list without items"
        else:
            yield from disagreements(typing.get_args(reader)[0], at.inside("items", item))
    elif typing.get_origin(reader) is typing.Literal:
        yield from _differing_values(set(typing.get_args(reader)), at)
    elif issubclass(reader, msgspec.Struct):
        yield from _struct(reader, at)
    elif issubclass(reader, StrEnum):
        yield from _differing_values({str(member) for member in reader}, at, wider=reader is ErrorCode)
    else:
        yield from _differing_types([reader], at)


def _struct(reader: type[msgspec.Struct], at: Place) -> Iterator[str]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(reader)}
    properties = at.schema.get("properties", {})
    if fields.keys() != properties.keys():
        yield f"{at.name}: members differ: {sorted(fields.keys() ^ properties.keys())}"
    required = {name for name, field in fields.items() if field.required}
    if required != set(at.schema.get("required", [])):
        yield f"{at.name}: required differ: {sorted(required ^ set(at.schema.get('required', [])))}"
    closed = False in (at.schema.get("additionalProperties"), at.schema.get("unevaluatedProperties"))
    if closed != reader.__struct_config__.forbid_unknown_fields:
        yield f"{at.name}: closed on one side only"
    for name in sorted(fields.keys() & properties.keys()):
        yield from disagreements(fields[name].type, at.inside(name, properties[name]))


def _differing_values(values: set[object], at: Place, *, wider: bool = False) -> Iterator[str]:
    declared = {at.schema["const"]} if "const" in at.schema else set(at.schema.get("enum", []))
    if not declared or not (declared <= values if wider else declared == values):
        yield f"{at.name}: values differ: {sorted(map(str, declared ^ values))}"


def _differing_types(readers: list[typing.Any], at: Place) -> Iterator[str]:
    wanted = {_JSON_TYPES.get(reader, str(reader)) for reader in readers}
    if "number" in wanted:
        wanted.discard("integer")
    if wanted != _types(at.schema):
        yield f"{at.name}: {sorted(wanted)} reads {sorted(_types(at.schema))}"


def _types(schema: Schema) -> set[str]:
    if "const" in schema:
        return {_JSON_TYPES[type(schema["const"])]}
    if any(" " in str(value) for value in schema.get("enum", [])):
        return {"string"}  # fixed sentences are read as text, not as states
    declared = schema.get("type", [])
    return {declared} if isinstance(declared, str) else set(declared)


def _unconditional(schema: Schema) -> Iterator[Schema]:
    yield schema
    if "$ref" in schema:
        yield from _unconditional(_resolved(schema["$ref"]))
    for branch in schema.get("allOf", []):
        if "if" not in branch:
            yield from _unconditional(branch)


def _resolved(reference: str) -> Schema:
    identity, _, pointer = reference.partition("#")
    target: typing.Any = _with_full_references(identity)
    for token in pointer.split("/")[1:]:
        target = target[token]
    return typing.cast("Schema", target)


@cache
def _with_full_references(identity: str) -> Schema:
    text = json.dumps(schemas()[identity]).replace('"$ref": "#', f'"$ref": "{identity}#')
    return typing.cast("Schema", json.loads(text))
