"""The work of a Skill schema for the validator: for each instance location it distinguishes, the subschemas that apply.

Every reference is expanded in place. A schema of which too many subschemas may apply to one location is refused.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from aop.cards.graph import SchemaGraph
from aop.cards.positions import NAMES, OTHER_ITEM, OTHER_MEMBER, applying_to_child, children, deeper, in_place
from aop.cards.weights import CHARGES, UNEVALUATED, UNEVALUATED_REPETITION, PatternSizes, Weight, entry_count, weight_of

MAX_AT_ONE_LOCATION = 10_000
MAX_STEPS = 100_000
NOWHERE = -1
"""Stands for a location to which nothing applies."""

_PER_NAME = frozenset({"required", "dependentRequired", "dependencies"})

_Edges = Callable[[int], Sequence[int]]
_State = frozenset[tuple[int, int]]


class SchemaTooCostly(ValueError):
    """Too many subschemas may apply at once, or references lead in a circle without consuming the instance."""


class StepsSpent(SchemaTooCostly):
    """The survey takes longer than its Card may take."""


class Steps:
    """What may still be spent on surveys; shared by all schemas of a Card."""

    def __init__(self, count: int = MAX_STEPS) -> None:
        self._left = count

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise StepsSpent("too many ways through the schema")


class Location(msgspec.Struct):
    """What is paid for a value there, and where its members and items are; NOWHERE once nothing applies to them.

    Of faults, the most that a value there can have, and the most that it can have for each of its members or items.
    """

    weight: Weight
    faults: int = 0
    child_faults: int = 0
    members: dict[str, int] = {}
    other_member: int = NOWHERE
    items: list[int] = []
    other_item: int = NOWHERE
    names: int = NOWHERE


class _Circle(Exception):
    """A way leads back to where it began."""


def survey(graph: SchemaGraph, patterns: PatternSizes, steps: Steps) -> Sequence[Location]:
    """All locations, the root first. SchemaTooCostly when a location has too many subschemas or no end of them."""
    return _Survey(graph, patterns, steps).run()


class _Sizes:
    """The size of subschemas when all that applies in place of each is written out."""

    def __init__(self, graph: SchemaGraph) -> None:
        self._graph = graph
        self._edges: _Edges = graph.in_place
        self.of: dict[int, int] = {}
        self.rank: dict[int, int] = {}
        """Grows in the order of measuring: whatever a subschema leads to has a smaller one."""

    def repetition(self, key: int) -> int:
        return 1 if self._graph.nodes[key].keys().isdisjoint(UNEVALUATED) else UNEVALUATED_REPETITION

    def measure(self, start: int) -> None:
        if start in self.of:
            return
        entered, way = {start}, [(start, iter(self._edges(start)))]
        while way:
            key, rest = way[-1]
            step = next(rest, None)
            if step is None:
                way.pop()
                entered.discard(key)
                size = 1 + self.repetition(key) * sum(self.of[edge] for edge in self._edges(key))
                self.of[key] = min(size, MAX_AT_ONE_LOCATION + 1)
                self.rank[key] = len(self.rank)
            elif step in entered:
                raise _Circle
            elif step not in self.of:
                entered.add(step)
                way.append((step, iter(self._edges(step))))


class _Survey:
    """Walks the instance locations a schema can distinguish, each as the multiset of subschemas that reach it."""

    def __init__(self, graph: SchemaGraph, patterns: PatternSizes, steps: Steps) -> None:
        self._graph = graph
        self._sizes = _Sizes(graph)
        self._patterns = patterns
        self._steps = steps
        self._shares: dict[int, Location] = {}
        self._numbers: dict[_State, int] = {}
        self._waiting: list[_State] = []

    def run(self) -> Sequence[Location]:
        self._number(frozenset({(self._graph.root, 1)}))
        found: list[Location] = []
        while len(found) < len(self._waiting):
            found.append(self._location(self._waiting[len(found)]))
        return found

    def _number(self, state: _State) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self._waiting)
            self._waiting.append(state)
        return self._numbers[state]

    def _location(self, state: _State) -> Location:
        order = self._order(state)
        applying = self._applying(state, order, self._sizes.repetition)
        location = Location(Weight())
        for key, count in applying.items():
            share = self._share(key)
            location.weight.add(share.weight, count)
            location.faults += share.faults * count
            location.child_faults += share.child_faults * count
        # A second run of what applies in place needs names and positions alone: members are not checked again.
        for child, reached in self._children(self._applying(state, order, lambda _: 1)):
            number = self._number(reached)
            if child == NAMES:
                location.names = number
            elif child == OTHER_MEMBER:
                location.other_member = number
            elif child == OTHER_ITEM:
                location.other_item = number
            elif child.startswith("#"):
                location.items.extend([NOWHERE] * (int(child[1:]) + 1 - len(location.items)))
                location.items[int(child[1:])] = number
            else:
                location.members[child[1:]] = number
        return location

    def _share(self, key: int) -> Location:
        """What one subschema adds to each location it applies to."""
        if key not in self._shares:
            node = self._graph.nodes[key]
            weight = weight_of(node, self._patterns, self._sizes.of[key])
            self._shares[key] = Location(weight, _faults_of(node), _child_faults_of(node))
        return self._shares[key]

    def _order(self, state: _State) -> Sequence[int]:
        """Everything the state's subschemas make apply to their location, each before whatever it leads to itself."""
        total = sum(count * self._size(key) for key, count in state)
        if total > MAX_AT_ONE_LOCATION:
            raise SchemaTooCostly("too many subschemas may apply to one instance location")
        waiting = [key for key, _ in state]
        found = set(waiting)
        while waiting:
            edges = self._graph.in_place(waiting.pop())
            self._steps.spend(1 + len(edges))
            fresh = set(edges) - found
            found |= fresh
            waiting.extend(fresh)
        return sorted(found, key=self._sizes.rank.__getitem__, reverse=True)

    def _applying(self, state: _State, order: Sequence[int], repetition: Callable[[int], int]) -> Mapping[int, int]:
        """How often each subschema applies to a location that the state's subschemas reach."""
        applying: Counter[int] = Counter(dict(state))
        for key in order:
            times = applying[key] * repetition(key)
            for edge in self._graph.in_place(key):
                applying[edge] += times
        return applying

    def _size(self, key: int) -> int:
        try:
            self._sizes.measure(key)
        except _Circle:
            raise SchemaTooCostly("a reference leads back to itself without consuming the instance") from None
        return self._sizes.of[key]

    def _children(self, applying: Mapping[int, int]) -> Sequence[tuple[str, _State]]:
        nodes = [(self._graph.nodes[key], count) for key, count in applying.items()]
        parents = [(node, count, frozenset(children(node))) for node, count in nodes]
        parents = [parent for parent in parents if parent[2]]
        found: list[tuple[str, _State]] = []
        for child in sorted(frozenset[str]().union(*(distinguished for _, _, distinguished in parents))):
            reached: Counter[int] = Counter()
            for node, count, _ in parents:
                self._steps.spend(1)
                for schema in applying_to_child(node, child):
                    self._steps.spend(1)
                    if isinstance(schema, dict):
                        reached[id(schema)] += count
            if reached:
                found.append((child, frozenset(reached.items())))
        return found


def _faults_of(schema: Mapping[str, object]) -> int:
    """How many faults the validator can find in one value by one subschema.

    Without those of the subschemas it holds, unless one is `false`, which stands nowhere else.
    """
    own = sum(
        entry_count(value) if keyword in _PER_NAME else 1 for keyword, value in schema.items() if keyword in CHARGES
    )
    return own + _refusing(in_place(schema))


def _child_faults_of(schema: Mapping[str, object]) -> int:
    """The same for each member or item of the value."""
    return _refusing(deeper(schema))


def _refusing(schemas: Iterable[object]) -> int:
    return sum(schema is False for schema in schemas)
