"""How many faults the validator can find in one value by one subschema."""

from collections.abc import Iterable, Mapping

from aop.cards.positions import below, in_place
from aop.cards.weights import CHARGES, count

_PER_NAME = frozenset({"required", "dependentRequired", "dependencies"})


def faults_of(schema: Mapping[str, object]) -> int:
    """Without those of the subschemas it holds, unless one is `false`, which stands nowhere else."""
    own = sum(count(value) if keyword in _PER_NAME else 1 for keyword, value in schema.items() if keyword in CHARGES)
    return own + _refusing(in_place(schema))


def child_faults_of(schema: Mapping[str, object]) -> int:
    """The same for each member or item of the value."""
    return _refusing(below(schema))


def _refusing(schemas: Iterable[object]) -> int:
    return sum(schema is False for schema in schemas)
