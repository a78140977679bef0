"""Says how far a path into a value is made of names that the schema declares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

Schema = Mapping[str, object]

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else")


@dataclass(frozen=True)
class _Subschema:
    """A subschema and the document its local references point into."""

    document: Schema
    schema: Schema


def declared_path(
    schemas: Mapping[str, Schema], document: Schema, schema: Schema, path: Sequence[str | int]
) -> tuple[str | int, ...]:
    """The path up to its first token that is neither an array index nor a member name declared there.

    `schemas` holds every document by its `$id`; `schema` is the document or a definition inside it.
    """
    kept: list[str | int] = []
    subschemas = list(_applying(schemas, _Subschema(document, schema)))
    for token in path:
        reached = list(_inside(subschemas, token))
        if isinstance(token, str) and not reached:
            break
        kept.append(token)
        subschemas = [deeper for subschema in reached for deeper in _applying(schemas, subschema)]
    return tuple(kept)


def _inside(subschemas: Sequence[_Subschema], token: str | int) -> Iterator[_Subschema]:
    for subschema in subschemas:
        if isinstance(token, int):
            child = subschema.schema.get("items")
        else:
            members = subschema.schema.get("properties")
            child = members.get(token) if isinstance(members, Mapping) else None
        if isinstance(child, Mapping):
            yield _Subschema(subschema.document, child)


def _applying(schemas: Mapping[str, Schema], subschema: _Subschema) -> Iterator[_Subschema]:
    """The subschema itself and all that apply to the same value through it."""
    yield subschema
    reference = subschema.schema.get("$ref")
    if isinstance(reference, str):
        yield from _applying(schemas, _resolved(schemas, subschema.document, reference))
    children = [subschema.schema.get(keyword) for keyword in _IN_PLACE]
    for keyword in _IN_PLACE_LISTS:
        branches = subschema.schema.get(keyword)
        children += branches if isinstance(branches, list) else []
    for child in children:
        if isinstance(child, Mapping):
            yield from _applying(schemas, _Subschema(subschema.document, child))


def _resolved(schemas: Mapping[str, Schema], document: Schema, reference: str) -> _Subschema:
    identity, _, pointer = reference.partition("#")
    whole = schemas[identity] if identity else document
    target = whole
    for token in pointer.split("/")[1:]:
        target = cast("Schema", target[token.replace("~1", "/").replace("~0", "~")])
    return _Subschema(whole, target)
