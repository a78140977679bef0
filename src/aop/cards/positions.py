"""Where subschemas stand inside a JSON Schema 2020-12 document, and to which part of an instance each applies."""

from collections.abc import Callable, Iterator, Mapping, Sequence

REFERENCES = ("$ref", "$dynamicRef")
NAMES = "propertyNames"
"""Stands for the location of member names, which a schema may constrain like values."""

_OTHER_MEMBERS = ("additionalProperties", "unevaluatedProperties")
_OTHER_ITEMS = ("items", "unevaluatedItems")
_EVERY_ITEM = "contains"
_ITEMS = "prefixItems"
_MEMBERS = ("properties", "patternProperties")

_Shape = type[dict[str, object]] | type[list[object]] | None
"""Whether a keyword holds subschemas by name, in a list, or is one itself."""

# `dependencies` and `definitions` are older names that validators and writers of schemas still know.
_IN_PLACE: Mapping[str, _Shape] = {
    **dict.fromkeys(("not", "if", "then", "else")),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), list),
    **dict.fromkeys(("dependentSchemas", "dependencies"), dict),
}
_DEEPER: Mapping[str, _Shape] = {
    **dict.fromkeys((*_OTHER_MEMBERS, *_OTHER_ITEMS, _EVERY_ITEM, NAMES)),
    _ITEMS: list,
    **dict.fromkeys(_MEMBERS, dict),
}
_ANYWHERE: Mapping[str, _Shape] = {
    **_IN_PLACE,
    **_DEEPER,
    "contentSchema": None,
    **dict.fromkeys(("$defs", "definitions"), dict),
}

OTHER_MEMBER = "*"
OTHER_ITEM = "#"
"""Stand for every member and every item that no keyword names one by one."""


def subschemas(schema: Mapping[str, object]) -> Sequence[object]:
    """The direct subschemas, wherever the dialect puts them; not what has the form of one inside enum or const."""
    return _held(schema, _ANYWHERE)


def with_subschemas(
    schema: Mapping[str, object], change: Callable[[Mapping[str, object]], object]
) -> dict[str, object]:
    """A copy of the schema in which each direct subschema that is an object is what `change` makes of it."""

    def changed(value: object) -> object:
        return change(value) if isinstance(value, dict) else value

    made = dict(schema)
    for keyword, value in schema.items():
        shape = _ANYWHERE.get(keyword)
        if keyword in _ANYWHERE and shape is None:
            made[keyword] = changed(value)
        elif isinstance(value, dict) and shape is dict:
            made[keyword] = {name: changed(one) for name, one in value.items()}
        elif isinstance(value, list) and shape is list:
            made[keyword] = [changed(one) for one in value]
    return made


def in_place(schema: Mapping[str, object]) -> Sequence[object]:
    """Subschemas that apply to the same instance location as the schema itself; references are not among them."""
    return _held(schema, _IN_PLACE)


def deeper(schema: Mapping[str, object]) -> Sequence[object]:
    """Subschemas that apply to locations below: members, their names, and items."""
    return _held(schema, _DEEPER)


def children(schema: Mapping[str, object]) -> Iterator[str]:
    """The child locations the schema distinguishes: `/` and a member, `#` and a position, the rest of each, names."""
    yield from (f"/{name}" for name in _members(schema, "properties"))
    yield from (f"#{index}" for index, _ in enumerate(_listed(schema)))
    if not schema.keys().isdisjoint((*_OTHER_MEMBERS, *_MEMBERS)):
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
    listed = _listed(schema)
    yield from _named(schema, (_EVERY_ITEM,))
    if position and int(position) < len(listed):
        yield listed[int(position)]
    else:
        yield from _first(schema, _OTHER_ITEMS)


def _first(schema: Mapping[str, object], keywords: tuple[str, ...]) -> Iterator[object]:
    """What the first of the keywords covers is evaluated; nothing is left of it for the second."""
    yield from list(_named(schema, keywords))[:1]


def _held(schema: Mapping[str, object], shapes: Mapping[str, _Shape]) -> Sequence[object]:
    found: list[object] = []
    for keyword, value in schema.items():  # most schemas have few keywords, the dialect has many
        if keyword not in shapes:
            continue
        shape = shapes[keyword]
        if shape is None:
            found.append(value)
        elif isinstance(value, dict) and shape is dict:
            found.extend(value.values())
        elif isinstance(value, list) and shape is list:
            found.extend(value)
    return found


def _named(schema: Mapping[str, object], keywords: tuple[str, ...]) -> Iterator[object]:
    return (schema[keyword] for keyword in keywords if keyword in schema)


def _listed(schema: Mapping[str, object]) -> Sequence[object]:
    listed = schema.get(_ITEMS)
    return listed if isinstance(listed, list) else ()


def _members(schema: Mapping[str, object], keyword: str) -> Mapping[str, object]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}
