"""How many subschemas of a Skill schema may apply to one instance location, with every reference expanded in place."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from aop.control_plane.registry.schema_graph import SchemaGraph
from aop.control_plane.registry.schema_positions import applying_to_child, children

MOST_AT_ONE_LOCATION = 10_000
_MOST_STEPS = 100_000

_Edges = Callable[[int], Sequence[int]]
_State = frozenset[tuple[int, int]]


class SchemaTooCostly(ValueError):
    """Too many subschemas may apply at once, or references lead in a circle without consuming the instance."""


class StepsSpent(SchemaTooCostly):
    """The survey takes longer than its Card may take."""


class Steps:
    """What may still be spent on surveys; shared by all schemas of a Card."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise StepsSpent("too many ways through the schema")


class _Circle(Exception):
    """A way leads back to where it began."""


def require_bounded_cost(graph: SchemaGraph, steps: Steps) -> None:
    """A schema that is small even when written out in full needs no closer look; a recursive one is surveyed."""
    if not graph.has_references and len(graph.nodes) <= MOST_AT_ONE_LOCATION:
        return  # it is written out already
    try:
        written_out = _Sizes(graph.edges)
        written_out.measure(graph.root)
    except _Circle:
        pass
    else:
        if written_out.of[graph.root] <= MOST_AT_ONE_LOCATION:
            return
    _Survey(graph, steps).run()


class _Sizes:
    """The size of subschemas when all that the edges lead to is written out in place of each edge."""

    def __init__(self, edges: _Edges) -> None:
        self._edges = edges
        self.of: dict[int, int] = {}
        self.rank: dict[int, int] = {}
        """Grows in the order of measuring: whatever a subschema leads to has a smaller one."""

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
                size = 1 + sum(self.of[edge] for edge in self._edges(key))
                self.of[key] = min(size, MOST_AT_ONE_LOCATION + 1)
                self.rank[key] = len(self.rank)
            elif step in entered:
                raise _Circle
            elif step not in self.of:
                entered.add(step)
                way.append((step, iter(self._edges(step))))


class _Survey:
    """Walks the instance locations a schema can tell apart, each as the multiset of subschemas that reach it."""

    def __init__(self, graph: SchemaGraph, steps: Steps) -> None:
        self._graph = graph
        self._sizes = _Sizes(graph.in_place)
        self._steps = steps

    def run(self) -> None:
        first: _State = frozenset({(self._graph.root, 1)})
        waiting, seen = [first], {first}
        while waiting:
            for child in self._children(self._applying(waiting.pop())):
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)

    def _applying(self, state: _State) -> Mapping[int, int]:
        """How often each subschema applies to a location that the state's subschemas reach."""
        total = sum(count * self._size(key) for key, count in state)
        if total > MOST_AT_ONE_LOCATION:
            raise SchemaTooCostly("too many subschemas may apply to one instance location")
        applying: Counter[int] = Counter(dict(state))
        for key in self._downwards(applying):
            for edge in self._graph.in_place(key):
                applying[edge] += applying[key]
        return applying

    def _size(self, key: int) -> int:
        try:
            self._sizes.measure(key)
        except _Circle:
            raise SchemaTooCostly("a reference leads back to itself without consuming the instance") from None
        return self._sizes.of[key]

    def _downwards(self, start: Mapping[int, int]) -> Sequence[int]:
        """Everything reached in place, each before whatever it leads to itself."""
        waiting, found = list(start), set(start)
        while waiting:
            edges = self._graph.in_place(waiting.pop())
            self._steps.spend(1 + len(edges))
            fresh = set(edges) - found
            found |= fresh
            waiting.extend(fresh)
        return sorted(found, key=self._sizes.rank.__getitem__, reverse=True)

    def _children(self, applying: Mapping[int, int]) -> Iterator[_State]:
        nodes = [(self._graph.nodes[key], count) for key, count in applying.items()]
        parents = [(node, count, frozenset(children(node))) for node, count in nodes]
        parents = [parent for parent in parents if parent[2]]
        for child in frozenset[str]().union(*(told_apart for _, _, told_apart in parents)):
            reached: Counter[int] = Counter()
            for node, count, _ in parents:
                self._steps.spend(1)
                for schema in applying_to_child(node, child):
                    self._steps.spend(1)
                    if isinstance(schema, dict):
                        reached[id(schema)] += count
            if reached:
                yield frozenset(reached.items())
