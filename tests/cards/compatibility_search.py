"""Looks for values that refute a proof: near the first schema of a pair, judged by the validator that checks calls."""

import random
from typing import NamedTuple

from aop.cards.compatibility.skills import compatibility
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused
from aop.contracts.compatibility import Compatible, SchemaAnswer
from aop.contracts.documents import compiled
from tests.cards.hostile import Schema
from tests.cards.near_values import NearValues
from tests.cards.schema_pairs import Pair


class Searched(NamedTuple):
    found: SchemaAnswer
    counterexample: object
    is_refuted: bool
    tried: int
    """Values that the first schema accepts."""


def is_usable(*schemas: Schema) -> bool:
    """Whether a Card may have them."""
    try:
        for schema in schemas:
            SchemaVetting().require_usable(schema)
    except SkillSchemaRefused:
        return False
    return True


def searched(pair: Pair, pick: random.Random, values: int) -> Searched:
    found = compatibility(pair.before, pair.after)
    accepts, also = compiled(pair.before, formats=False), compiled(pair.after, formats=False)
    near, tried = NearValues(pick, pair.before), 0
    for _ in range(values if found.compatible is Compatible.YES else 0):
        value = near.value(pair.before)
        if accepts.is_valid(value):
            tried += 1
            if not also.is_valid(value):
                return Searched(found, value, is_refuted=True, tried=tried)
    return Searched(found, None, is_refuted=False, tried=tried)
