"""A subschema and the document its references count from, known by identity; sets of them that apply together."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from aop.base.canonical import canonical
from aop.cards.cost import Steps
from aop.cards.graph import pointed

MAX_DEPTH = 24
"""Of ways through schemas; what lies deeper is not decided. So the work fits on the stack as well."""
_MAX_READ_DEPTH = 100
_KEY_BYTES_PER_STEP = 64

_UNSUPPORTED = ("$dynamicRef", "$recursiveRef")


class Undecided(Exception):
    """The schema leaves the part of the dialect that is decided here, or grows too large in it."""


class Subschema:
    """One place of one document. Two places are never equal, however they read."""

    def __init__(self, document: "SchemaDocument | None", number: int, schema: Mapping[str, object] | bool) -> None:
        self.document = document
        self.number = number
        self.schema = schema
        self.keywords: Mapping[str, object] = {} if isinstance(schema, bool) else schema
        self._listed: dict[str, Sequence[Together]] = {}
        self._named: dict[str, Mapping[str, Together]] = {}

    @property
    def is_supported(self) -> bool:
        """Whether its references mean what they say: no dynamic scope, no resource of its own."""
        at_root = self.document is not None and self.document.root is self
        return self.keywords.keys().isdisjoint(_UNSUPPORTED) and (at_root or "$id" not in self.keywords)

    def child(self, schema: object) -> "Together":
        """What applies where a schema inside this one does; nothing for true."""
        if schema is True:
            return ()
        if self.document is None or not isinstance(schema, dict):
            return (NEVER,)
        return (self.document.subschema(schema),)

    def target(self) -> "Subschema | None":
        """What `$ref` leads to; None where no plain pointer leads there."""
        return None if self.document is None else self.document.resolve(self.keywords["$ref"])

    def listed(self, keyword: str) -> Sequence["Together"]:
        if keyword not in self._listed:
            found = self.keywords.get(keyword)
            self._listed[keyword] = [self.child(one) for one in found] if isinstance(found, list) else []
        return self._listed[keyword]

    def named(self, keyword: str) -> Mapping[str, "Together"]:
        if keyword not in self._named:
            found = self.keywords.get(keyword)
            entries = found.items() if isinstance(found, dict) else ()
            self._named[keyword] = {name: self.child(one) for name, one in entries}
        return self._named[keyword]


Together = tuple[Subschema, ...]
"""Subschemas of which all must hold."""

NEVER = Subschema(None, 0, False)


class SchemaDocument:
    """The subschemas of one document; those of two documents have different numbers."""

    def __init__(self, schema: Mapping[str, object], first_number: int) -> None:
        self._first = first_number
        self._by_id: dict[int, Subschema] = {}
        self._kept: list[Mapping[str, object]] = []  # else the identity of one could be given to another
        self.root = self.subschema(schema)
        self.anything = self.subschema({})

    def subschema(self, schema: Mapping[str, object]) -> Subschema:
        found = self._by_id.get(id(schema))
        if found is None:
            found = self._by_id[id(schema)] = Subschema(self, self._first + len(self._by_id), schema)
            self._kept.append(schema)
        return found

    def resolve(self, reference: object) -> Subschema | None:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        target: object = self.root.schema
        if fragment and not fragment.startswith("/"):
            return None
        try:
            for token in fragment.split("/")[1:]:
                target = pointed(target, token)
                if isinstance(target, dict) and "$id" in target:
                    return None
        except (LookupError, ValueError):
            return None
        if isinstance(target, bool):
            return self.anything if target else NEVER
        return self.subschema(target) if isinstance(target, dict) else None


def together(*sets: Together) -> Together:
    """All of them, each once, in the order of their numbers."""
    found = {one.number: one for each in sets for one in each}
    return tuple(found[number] for number in sorted(found))


def refusal(inside: Subschema, schemas: Together) -> Together:
    """The same as something that must not hold, where nothing stands for anything."""
    return schemas if schemas or inside.document is None else (inside.document.anything,)


class Sameness:
    """Whether two subschemas read alike, and whatever their references lead to does."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._assumed: set[tuple[int, int]] = set()
        self._depth = 0

    def holds(self, one: Subschema, other: Subschema) -> bool:
        if one is other or (one.number, other.number) in self._assumed:
            return True
        self._assumed.add((one.number, other.number))
        if self._read_alike(one.schema, other.schema, one, other):
            return True
        # What was taken for granted below may rest on what has just been refuted.
        self._assumed.clear()
        return False

    def of_values(self, one: object, other: object, inside: Subschema, inside_other: Subschema) -> bool:
        return self._read_alike(one, other, inside, inside_other)

    def _read_alike(self, one: object, other: object, inside: Subschema, inside_other: Subschema) -> bool:
        self._steps.spend(1)
        if self._depth >= _MAX_READ_DEPTH:
            return False
        self._depth += 1
        try:
            if isinstance(one, dict) and isinstance(other, dict):
                return self._are_objects_alike(one, other, inside, inside_other)
            if isinstance(one, list) and isinstance(other, list):
                pairs = zip(one, other, strict=False)
                return len(one) == len(other) and all(self._read_alike(*pair, inside, inside_other) for pair in pairs)
            return type(one) is type(other) and one == other
        finally:
            self._depth -= 1

    def _are_objects_alike(
        self, one: dict[str, object], other: dict[str, object], inside: Subschema, inside_other: Subschema
    ) -> bool:
        return (
            one.keys() == other.keys()
            and not ("$dynamicRef" in one or "$id" in one)
            and all(self._read_alike(one[name], other[name], inside, inside_other) for name in one)
            and ("$ref" not in one or self._lead_alike(one["$ref"], inside, inside_other))
        )

    def _lead_alike(self, reference: object, inside: Subschema, inside_other: Subschema) -> bool:
        if inside.document is None or inside_other.document is None:
            return False
        target, other = inside.document.resolve(reference), inside_other.document.resolve(reference)
        return target is not None and other is not None and self.holds(target, other)


def value_key(value: object, steps: Steps) -> bytes:
    """Equal for values that JSON Schema takes for equal, 1 and 1.0 among them."""
    key = canonical(value)
    steps.spend(len(key) // _KEY_BYTES_PER_STEP)
    return key


def names_of(sets: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for each in sets for name in each))
