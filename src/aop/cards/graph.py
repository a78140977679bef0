"""The subschemas of a Skill schema and what each leads to, with references resolved inside the document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from aop.cards.positions import REFERENCES, deeper, in_place, subschemas

Node = Mapping[str, object]


class AmbiguousName(ValueError):
    """Two subschemas of one resource bear the same anchor, or two resources the same identity."""


class SchemaGraph:
    """Subschemas are known by the identity of their object, because equal ones at two places count twice.

    A reference that leads nowhere is a LookupError or ValueError where it is followed.
    """

    def __init__(self, schema: Node) -> None:
        self.root = id(schema)
        self.nodes: dict[int, Node] = {}
        self.has_references = False
        self._resources: dict[int, Node] = {}
        self._anchors: dict[tuple[int, str], Node] = {}
        self._dynamic: dict[str, list[Node]] = {}
        self._identities: set[str] = set()
        self._in_place: dict[int, Sequence[int]] = {}
        self._edges: dict[int, Sequence[int]] = {}
        self._index(schema, schema)

    def follow(self) -> None:
        """Finds every subschema that can apply, also where no keyword of the dialect expects one."""
        waiting, seen = [self.root], {self.root}
        while waiting:
            for key in self.edges(waiting.pop()):
                if key not in seen:
                    seen.add(key)
                    waiting.append(key)

    def edges(self, key: int) -> Sequence[int]:
        """Everything the subschema makes apply, to its own location or to a location below it."""
        if key not in self._edges:
            self._edges[key] = [*self.in_place(key), *_objects(deeper(self.nodes[key]))]
        return self._edges[key]

    def is_of_root(self, key: int) -> bool:
        """Whether references of the subschema count from the root, not from a resource inside it."""
        return id(self._resources[key]) == self.root

    def target(self, node: Node) -> object:
        """What the `$ref` of the subschema leads to; None when it has none."""
        return self._resolve(str(node["$ref"]), self._resources[id(node)]) if "$ref" in node else None

    def in_place(self, key: int) -> Sequence[int]:
        """What the subschema makes apply to its own location, by keyword or by reference."""
        if key not in self._in_place:
            node = self.nodes[key]
            self._in_place[key] = _objects([*in_place(node), *self._referenced(node)])
        return self._in_place[key]

    def _index(self, schema: object, resource: Node) -> None:
        if not isinstance(schema, dict) or id(schema) in self.nodes:
            return
        if "$id" in schema:
            resource = schema
            _require_new(str(schema["$id"]), self._identities)
        self.nodes[id(schema)] = schema
        self._resources[id(schema)] = resource
        if not schema.keys().isdisjoint(REFERENCES):
            self.has_references = True
        self._index_anchors(schema, resource)
        for child in subschemas(schema):
            self._index(child, resource)

    def _index_anchors(self, schema: Node, resource: Node) -> None:
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if not isinstance(name, str):
                continue
            if self._anchors.setdefault((id(resource), name), schema) is not schema:
                raise AmbiguousName("an anchor is named twice")
            if keyword == "$dynamicAnchor":
                self._dynamic.setdefault(name, []).append(schema)

    def _referenced(self, node: Node) -> Iterator[object]:
        if "$ref" in node:
            yield self.target(node)
        if "$dynamicRef" in node:
            target = self._resolve(str(node["$dynamicRef"]), self._resources[id(node)])
            # Which of the equally named anchors is meant depends on the way taken; each of them may be.
            named = self._dynamic.get(_fragment(str(node["$dynamicRef"])), [])
            yield from {id(schema): schema for schema in (target, *named)}.values()

    def _resolve(self, reference: str, resource: Node) -> object:
        fragment = _fragment(reference)
        if fragment and not fragment.startswith("/"):
            return self._anchors[id(resource), fragment]
        target: object = resource
        for token in fragment.split("/")[1:]:
            target = pointed(target, token)
        self._index(target, resource)
        return target


def _fragment(reference: str) -> str:
    return unquote(reference.removeprefix("#"))


def _require_new(identity: str, taken: set[str]) -> None:
    if identity in taken:
        raise AmbiguousName("a resource is named twice")
    taken.add(identity)


def _objects(schemas: Iterable[object]) -> Sequence[int]:
    return [id(schema) for schema in schemas if isinstance(schema, dict)]


def pointed(target: object, token: str) -> object:
    """One step of a JSON Pointer; a LookupError or ValueError where it leads nowhere."""
    token = token.replace("~1", "/").replace("~0", "~")
    if isinstance(target, list):
        return target[int(token)]
    if isinstance(target, dict):
        return target[token]
    raise LookupError(token)
