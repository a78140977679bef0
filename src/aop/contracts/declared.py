"""Says how far a path into a value is made of names that the schema declares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

Schema = Mapping[str, object]

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else")


@dataclass(frozen=True)
class _Place:
    """A subschema and the document its local references point into."""

    document: Schema
    schema: Schema


def declared_path(
    schemas: Mapping[str, Schema], document: Schema, schema: Schema, path: Sequence[str | int]
) -> tuple[str | int, ...]:
    """The path up to its first token that is neither an array index nor a member name declared at that place.

    `schemas` holds every document by its `$id`; `schema` is the document or a definition inside it.
    """
    kept: list[str | int] = []
    places = list(_applying(schemas, _Place(document, schema)))
    for token in path:
        reached = list(_inside(places, token))
        if isinstance(token, str) and not reached:
            break
        kept.append(token)
        places = [deeper for place in reached for deeper in _applying(schemas, place)]
    return tuple(kept)


def _inside(places: Sequence[_Place], token: str | int) -> Iterator[_Place]:
    for place in places:
        if isinstance(token, int):
            child = place.schema.get("items")
        else:
            members = place.schema.get("properties")
            child = members.get(token) if isinstance(members, Mapping) else None
        if isinstance(child, Mapping):
            yield _Place(place.document, child)


def _applying(schemas: Mapping[str, Schema], place: _Place) -> Iterator[_Place]:
    """The subschema itself and all that apply to the same value through it."""
    yield place
    reference = place.schema.get("$ref")
    if isinstance(reference, str):
        yield from _applying(schemas, _resolved(schemas, place.document, reference))
    children = [place.schema.get(keyword) for keyword in _IN_PLACE]
    for keyword in _IN_PLACE_LISTS:
        branches = place.schema.get(keyword)
        children += branches if isinstance(branches, list) else []
    for child in children:
        if isinstance(child, Mapping):
            yield from _applying(schemas, _Place(place.document, child))


def _resolved(schemas: Mapping[str, Schema], document: Schema, reference: str) -> _Place:
    identity, _, pointer = reference.partition("#")
    whole = schemas[identity] if identity else document
    target = whole
    for token in pointer.split("/")[1:]:
        target = cast("Schema", target[token.replace("~1", "/").replace("~0", "~")])
    return _Place(whole, target)
