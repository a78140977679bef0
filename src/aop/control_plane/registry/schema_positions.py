"""Where subschemas stand inside a JSON Schema 2020-12 document, and to which part of an instance each applies."""

from collections.abc import Iterator, Mapping

IN_PLACE_ONE = ("not", "if", "then", "else")
IN_PLACE_LIST = ("allOf", "anyOf", "oneOf")
# `dependencies` and `definitions` are older names that validators and writers of schemas still know.
IN_PLACE_MAP = ("dependentSchemas", "dependencies")
REFERENCES = ("$ref", "$dynamicRef")
_OTHER_MEMBERS = ("additionalProperties", "unevaluatedProperties")
_OTHER_ITEMS = ("items", "unevaluatedItems")
_EVERY_ITEM = "contains"
_BELOW_ONE = (*_OTHER_MEMBERS, *_OTHER_ITEMS, _EVERY_ITEM, "propertyNames")
_BELOW_LIST = ("prefixItems",)
_BELOW_MAP = ("properties", "patternProperties")

NAMES = "propertyNames"
"""Stands for the location of member names, which a schema may constrain like values."""

OTHER_MEMBER = "*"
OTHER_ITEM = "#"
"""Stand for every member and every item that no keyword names one by one."""


def subschemas(schema: Mapping[str, object]) -> Iterator[object]:
    """The direct subschemas, wherever the dialect puts them; not what merely looks like one inside enum or const."""
    yield from in_place(schema)
    yield from below(schema)
    yield from _at(schema, ("contentSchema",), (), ("$defs", "definitions"))


def in_place(schema: Mapping[str, object]) -> Iterator[object]:
    """Subschemas that apply to the same instance location as the schema itself; references are not among them."""
    return _at(schema, IN_PLACE_ONE, IN_PLACE_LIST, IN_PLACE_MAP)


def below(schema: Mapping[str, object]) -> Iterator[object]:
    """Subschemas that apply to locations below: members, their names, and items."""
    return _at(schema, _BELOW_ONE, _BELOW_LIST, _BELOW_MAP)


def children(schema: Mapping[str, object]) -> Iterator[str]:
    """The child locations the schema tells apart: `/` and a member, `#` and a position, the rest of each, and names."""
    yield from (f"/{name}" for name in _members(schema, "properties"))
    yield from (f"#{index}" for index, _ in enumerate(_listed(schema, _BELOW_LIST)))
    if not schema.keys().isdisjoint((*_OTHER_MEMBERS, *_BELOW_MAP)):
        yield OTHER_MEMBER
    if not schema.keys().isdisjoint((*_OTHER_ITEMS, _EVERY_ITEM)):
        yield OTHER_ITEM
    if NAMES in schema:
        yield NAMES


def applying_to_child(schema: Mapping[str, object], child: str) -> Iterator[object]:
    """Subschemas that may apply to that child location; a pattern is taken to match whatever it may match."""
    if child == NAMES:
        yield from _named(schema, (NAMES,))
    elif child.startswith("#"):
        yield from _applying_to_item(schema, child[1:])
    else:
        yield from _applying_to_member(schema, child)


def _applying_to_member(schema: Mapping[str, object], child: str) -> Iterator[object]:
    members, name = _members(schema, "properties"), child[1:]
    yield from _members(schema, "patternProperties").values()
    if child != OTHER_MEMBER and name in members:
        yield members[name]
    else:
        yield from _first(schema, _OTHER_MEMBERS)


def _applying_to_item(schema: Mapping[str, object], position: str) -> Iterator[object]:
    listed = list(_listed(schema, _BELOW_LIST))
    yield from _named(schema, (_EVERY_ITEM,))
    if position and int(position) < len(listed):
        yield listed[int(position)]
    else:
        yield from _first(schema, _OTHER_ITEMS)


def _first(schema: Mapping[str, object], keywords: tuple[str, ...]) -> Iterator[object]:
    """What the first of the keywords covers is evaluated; nothing is left of it for the second."""
    yield from list(_named(schema, keywords))[:1]


def _at(
    schema: Mapping[str, object], ones: tuple[str, ...], lists: tuple[str, ...], maps: tuple[str, ...]
) -> Iterator[object]:
    yield from _named(schema, ones)
    yield from _listed(schema, lists)
    for keyword in maps:
        yield from _members(schema, keyword).values()


def _named(schema: Mapping[str, object], keywords: tuple[str, ...]) -> Iterator[object]:
    return (schema[keyword] for keyword in keywords if keyword in schema)


def _listed(schema: Mapping[str, object], keywords: tuple[str, ...]) -> Iterator[object]:
    for keyword in keywords:
        listed = schema.get(keyword)
        yield from listed if isinstance(listed, list) else ()


def _members(schema: Mapping[str, object], keyword: str) -> Mapping[str, object]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}
