"""Vets the schemas of a Skill (contract 2.3): nothing fetched, nothing unbounded, nothing the Router could not run."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

import jsonschema_rs
import msgspec

from aop.base.canonical import canonical
from aop.contracts.documents import compiled
from aop.control_plane.registry.schema_cost import SchemaTooCostly, Steps, StepsSpent, require_bounded_cost
from aop.control_plane.registry.schema_graph import AmbiguousName, SchemaGraph
from aop.control_plane.registry.schema_positions import REFERENCES

MOST_BYTES = 64 * 1024
MOST_PATTERN_CHARACTERS = 512
MOST_AUTOMATON_BYTES = 64 * 1024 * 1024
"""What may be spent on compiling the patterns of one Card."""
_AUTOMATON_SIZES = tuple(4**power * 1024 for power in range(1, 8))

_PATTERNS = frozenset({"pattern", "patternProperties"})
_RULED = _PATTERNS.union({"$schema"}, REFERENCES)
_GROUP_NAME = re.compile(r"\(\?P?<[A-Za-z_][0-9A-Za-z_]*>")
_DIALECT = re.compile(r"https?://json-schema\.org/draft/2020-12/schema#?")


Schema = Mapping[str, object]


class SkillSchemaRefused(ValueError):
    """The schema does not follow the rules; the text is for logs and repeats nothing of the schema."""


class VettingExhausted(SkillSchemaRefused):
    """The schemas of the Card so far, this one included, cost more to vet than one Card may."""


class SchemaVetting:
    """Vets the schemas of one Card. What they may cost together is bounded, however many there are."""

    def __init__(self) -> None:
        self._steps = Steps()
        self._automaton_bytes = MOST_AUTOMATON_BYTES

    def require_usable(self, schema: Schema) -> None:
        """1. size; 2. dialect, references and patterns of every part; 3. valid and compilable; 4. bounded cost."""
        if _is_large(schema):
            raise SkillSchemaRefused("larger than 64 KiB in canonical form")
        try:
            self._require_usable(schema)
        except StepsSpent as refused:
            raise VettingExhausted(str(refused)) from None
        except (SchemaTooCostly, AmbiguousName) as refused:
            raise SkillSchemaRefused(str(refused)) from None
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, LookupError) as refused:
            if isinstance(refused, SkillSchemaRefused):
                raise
            raise SkillSchemaRefused(f"cannot be compiled ({type(refused).__name__})") from None

    def _require_usable(self, schema: Schema) -> None:
        graph = SchemaGraph(schema)
        _require_each(graph.nodes.values())
        if graph.has_references:
            indexed = len(graph.nodes)
            graph.follow()
            _require_each(islice(graph.nodes.values(), indexed, None))
        if not _dialect().is_valid(schema):
            raise SkillSchemaRefused("not a valid JSON Schema 2020-12")
        patterns = [
            pattern for part in graph.nodes.values() if _has_any(part, _PATTERNS) for pattern in _patterns(part)
        ]
        self._require_light_patterns(patterns)
        compiled(schema, formats=False)
        require_bounded_cost(graph, self._steps)

    def _require_light_patterns(self, patterns: Sequence[str]) -> None:
        """A short pattern can stand for megabytes of automaton: `\\p{L}{200}`. All of a schema are compiled as one,
        which stops at a size; every size tried is paid for."""
        # The line end closes the comment that a pattern in verbose mode may end with; names of groups must not repeat.
        joined = "".join(f"(?:{_GROUP_NAME.sub('(?:', pattern)}\n)" for pattern in patterns)
        if not joined:
            return
        for size in _AUTOMATON_SIZES:
            self._automaton_bytes -= size
            if self._automaton_bytes < 0:
                raise VettingExhausted("the patterns are too large when compiled")
            if _compiles(joined, size):
                return
        raise SkillSchemaRefused("a pattern does not run in linear time, or the patterns are too large when compiled")


def _is_large(schema: Schema) -> bool:
    # The canonical form spells `1e20` in 21 digits and lengthens nothing else: six times the plain form is always
    # enough, and tells for nearly all schemas.
    return len(msgspec.json.encode(schema)) > MOST_BYTES // 6 and len(canonical(schema)) > MOST_BYTES


def _compiles(pattern: str, most_bytes: int) -> bool:
    options = jsonschema_rs.RegexOptions(size_limit=most_bytes)
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)
    except jsonschema_rs.ValidationError:
        return False
    return True


def _require_each(parts: Iterable[Schema]) -> None:
    for part in parts:
        if _has_any(part, _RULED):
            _require_dialect(part)
            _require_local_references(part)
            _require_short_patterns(part)


def _has_any(part: Schema, keywords: frozenset[str]) -> bool:
    return not part.keys().isdisjoint(keywords)


@cache
def _dialect() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def _require_dialect(part: Schema) -> None:
    named = part.get("$schema")
    if named is not None and not (isinstance(named, str) and _DIALECT.fullmatch(named)):
        raise SkillSchemaRefused("names another dialect")


def _require_local_references(part: Schema) -> None:
    for keyword in REFERENCES:
        reference = part.get(keyword, "#")
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SkillSchemaRefused("a reference does not stay inside the schema")


def _require_short_patterns(part: Schema) -> None:
    if any(len(pattern) > MOST_PATTERN_CHARACTERS for pattern in _patterns(part)):
        raise SkillSchemaRefused("a pattern is longer than 512 characters")


def _patterns(part: Schema) -> Iterator[str]:
    named = part.get("patternProperties")
    found = (part.get("pattern"), *(named if isinstance(named, dict) else ()))
    return (pattern for pattern in found if isinstance(pattern, str))
