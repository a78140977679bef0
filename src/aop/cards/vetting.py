"""Vets the schemas of a Skill (contract 2.3): nothing fetched, nothing unbounded, nothing the Router could not run."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

import jsonschema_rs
import msgspec

from aop.base.canonical import canonical
from aop.cards.cost import Location, SchemaTooCostly, Steps, StepsSpent, survey
from aop.cards.graph import AmbiguousName, SchemaGraph
from aop.cards.patterns import (
    MAX_PATTERN_CHARACTERS,
    PatternBudget,
    PatternsTooLarge,
    TriedBytesSpent,
    patterns_of,
)
from aop.cards.positions import REFERENCES
from aop.contracts.documents import compiled

MAX_BYTES = 64 * 1024
"""Of one schema, in canonical form."""

BYTES_IN_LOOP = 6 * 1024
"""Of all schemas that are vetted together."""
TRIED_BYTES_IN_LOOP = 128 * 1024
_STEPS_IN_LOOP = 1_500

_PATTERNS = frozenset({"pattern", "patternProperties"})
_RULED = _PATTERNS.union({"$schema"}, REFERENCES)
_DIALECT = re.compile(r"https?://json-schema\.org/draft/2020-12/schema#?")


Schema = Mapping[str, object]


class SkillSchemaRefused(ValueError):
    """The schema does not follow the rules; the text is for logs and repeats nothing of the schema."""


class VettingExhausted(SkillSchemaRefused):
    """The schemas of the Card so far, this one included, cost more to vet than one Card may."""


class NotInLoop(Exception):
    """Vetting would hold up the event loop; a schema process is to do it."""


class SchemaVetting:
    """Vets the schemas of one Card. What they may cost together is bounded, however many there are."""

    def __init__(self) -> None:
        self.patterns = PatternBudget()
        self._steps = Steps()
        self._bytes_left: int | None = None

    @classmethod
    def in_loop(cls) -> "SchemaVetting":
        """With so little to spend that it may run in an event loop; NotInLoop when that is not enough."""
        vetting = cls()
        vetting.patterns, vetting._steps = PatternBudget(TRIED_BYTES_IN_LOOP), Steps(_STEPS_IN_LOOP)
        vetting._bytes_left = BYTES_IN_LOOP
        return vetting

    def require_usable(self, schema: Schema) -> Sequence[Location]:
        """1. size; 2. dialect, references and patterns of every part; 3. valid and compilable; 4. bounded cost."""
        if self._bytes_left is not None:
            self._bytes_left -= len(msgspec.json.encode(schema))
            if self._bytes_left < 0:
                raise NotInLoop
        if _is_large(schema):
            raise SkillSchemaRefused("larger than 64 KiB in canonical form")
        try:
            return self._require_usable(schema)
        except (StepsSpent, TriedBytesSpent) as refused:
            if self._bytes_left is not None:
                raise NotInLoop from None
            raise VettingExhausted(str(refused)) from None
        except (SchemaTooCostly, AmbiguousName, PatternsTooLarge) as refused:
            raise SkillSchemaRefused(str(refused)) from None
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, LookupError) as refused:
            if isinstance(refused, SkillSchemaRefused):
                raise
            raise SkillSchemaRefused(f"cannot be compiled ({type(refused).__name__})") from None

    def _require_usable(self, schema: Schema) -> Sequence[Location]:
        graph = SchemaGraph(schema)
        _require_each(graph.nodes.values())
        if graph.has_references:
            indexed = len(graph.nodes)
            graph.follow()
            _require_each(islice(graph.nodes.values(), indexed, None))
        if not _dialect().is_valid(schema):
            raise SkillSchemaRefused("not a valid JSON Schema 2020-12")
        parts = (part for part in graph.nodes.values() if _has_any(part, _PATTERNS))
        sizes = self.patterns.sizes({pattern: None for part in parts for pattern in patterns_of(part)})
        locations = survey(graph, sizes, self._steps)
        compiled(schema, formats=False)
        return locations


def _is_large(schema: Schema) -> bool:
    # The canonical form spells `1e20` in 21 digits and lengthens nothing else: six times the plain form is always
    # enough, and decides for nearly all schemas.
    return len(msgspec.json.encode(schema)) > MAX_BYTES // 6 and len(canonical(schema)) > MAX_BYTES


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
    if any(len(pattern) > MAX_PATTERN_CHARACTERS for pattern in patterns_of(part)):
        raise SkillSchemaRefused("a pattern is longer than 512 characters")
