"""What the server reads for a query, by its own explanation of the plan that it ran."""

import json
from collections.abc import Iterator
from typing import Any


class Explaining:
    """A connection that has the server explain each query, and notes how many rows of Cards it read."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.cards = 0

    async def fetch(self, query: str, *values: Any) -> Any:
        text = await self._connection.fetchval(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}", *values)
        self.cards += sum(map(_cards_of, _nodes(json.loads(text)[0]["Plan"])))
        return await self._connection.fetch(query, *values)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _cards_of(node: dict[str, Any]) -> int:
    if node.get("Relation Name") != "card":
        return 0
    of_each = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(node.get("Heap Fetches", of_each * node["Actual Loops"]))
