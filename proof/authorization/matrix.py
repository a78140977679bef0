"""Every cell of the matrix: one visitor, one operation, one relation for each object it names."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import asyncpg

from aop.base.ids import new_id, new_trace_id
from aop.net.http import HttpClient, Target
from proof.area import proves
from proof.authorization.rules import OWN, RULES, Access, Outcome, Relation, Rule
from proof.authorization.world import Named, Visitor, World
from tests.support.cards import a_card
from tests.support.loop import CAPABILITY
from tests.support.nested import nested_body
from tests.support.replicas import dispatch_body
from tests.support.units import Headers, RunningUnit

UNITS = {
    "gateway.v1": "control plane",
    "control-plane-internal.v1": "control plane",
    "router-internal.v1": "router",
    "router-agent.v1": "router",
}
WATCH = "GET /internal/v1/topology/watch"
# What happens by itself, and what reading with a token notes.
_TABLES = (
    "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN"
    " ('gateway', 'registry', 'workspace', 'ledger') AND tablename <> 'checkpoint' ORDER BY 1"
)
_DIGEST = (
    "SELECT md5(coalesce(string_agg(line, ',' ORDER BY line), '')) FROM"
    " (SELECT md5((to_jsonb(one) - 'last_used_at')::text) AS line FROM {table} AS one) AS lines"
)


@dataclass(frozen=True)
class Cell:
    visitor: Visitor
    document: str
    operation: str
    rule: Rule
    relations: Mapping[str, Relation]

    def __str__(self) -> str:
        objects = ", ".join(f"{relation} {name}" for name, relation in self.relations.items())
        return f"{self.visitor.name}: {self.operation} ({self.document}) of {objects or 'nothing'}"

    @property
    def expected(self) -> Outcome:
        visitor, access = self.visitor, self.rule.access
        if access is not Access.ANYONE and access not in visitor.passes:
            service = access in {Access.ROUTER, Access.CONTROL_PLANE} and not visitor.malformed
            return (403, "FORBIDDEN") if service else (401, "UNAUTHENTICATED")
        too_late = visitor.too_late and access is Access.DELEGATION
        return (409, "CONFLICT") if too_late else self.rule.expected(self.relations)

    @property
    def is_plain(self) -> bool:
        """Of one unit alone, and about what its visitor owns."""
        return self.rule.access is not Access.ANYONE and set(self.relations.values()) <= {OWN}

    @property
    def spends(self) -> bool:
        """Whether it changes something, so that it can be tried but once."""
        return self.rule.changes and self.expected[0] < 300


def cells(visitors: Sequence[Visitor]) -> Iterator[Cell]:
    for visitor in visitors:
        for document, rules in RULES.items():
            for operation, rule in rules.items():
                for relations in rule.combinations():
                    yield Cell(visitor, document, operation, rule, relations)


@dataclass
class Doors:
    """Sends the request of a cell to the unit that serves it."""

    world: World
    client: HttpClient
    _numbers: "count[int]"

    @proves("An operation asked of the unit that does not serve it is unknown there.")
    async def outcome(self, cell: Cell, *, misplaced: bool = False) -> Outcome:
        """A misplaced request goes to the unit that does not serve it, which no document describes."""
        named, platform = self.world.named[cell.visitor.owner], self.world.platform
        method, path = self._request_line(cell, named)
        headers = [(b"authorization", value.encode()) for value in cell.visitor.authorization]
        at_gateway = UNITS[cell.document] == "control plane"
        if misplaced:
            return await self._head(platform.router if at_gateway else platform.gateway, method, path, headers)
        if cell.operation == WATCH:
            return await self._head(platform.gateway, method, path, headers)
        unit = platform.gateway if at_gateway else platform.router
        reply = await unit.ask(method, path, self._body(cell, named), headers=headers)
        return reply.status, reply.code if reply.status >= 400 else ""

    def _request_line(self, cell: Cell, named: Named) -> tuple[str, str]:
        method, path = cell.operation.split(" ")
        for name, relation in cell.relations.items():
            path = path.replace(f"{{{name}}}", named[name, relation])
        return method, path

    async def _head(self, unit: RunningUnit, method: str, path: str, headers: Headers) -> Outcome:
        """For an answer that may be endless when it is a good one: its head is enough."""
        target = Target("http", "127.0.0.1", unit.port, "127.0.0.1")
        deadline = asyncio.get_running_loop().time() + 10
        async with self.client.stream(
            target, method, path, headers=headers, deadline=deadline, max_body=2**20
        ) as answer:
            if answer.status < 300:
                return answer.status, ""
            return answer.status, json.loads(b"".join([piece async for piece in answer]))["code"]

    def _body(self, cell: Cell, named: Named) -> Any:
        def of(name: str) -> str:
            return named[name, cell.relations.get(name, OWN)]

        def space() -> dict[str, str]:
            return {"workspaceId": of("workspaceId")}

        url = self.world.platform.agent.url
        made: dict[str, Callable[[], Any]] = {
            "/v1/agents": lambda: a_card(agent_id=f"new:agent-{next(self._numbers)}", owner=of("owner")),
            "/endpoint-bindings": lambda: {"endpoint": url, "method": "http_well_known", "version": "1.0.0"},
            "/agents/{agentId}/releases": lambda: {"version": "1.0.0", "endpointBindingId": of("binding")},
            "/v1/workspaces": lambda: {"workspaceId": f"new-space-{next(self._numbers)}"},
            "/installations": lambda: {"agentId": of("target"), "versionConstraint": "*", "acceptedPermissions": []},
            "/installations/{installationId}": lambda: {"status": "disabled"},
            "/agent/v1/invocations": lambda: nested_body(of("target")),
            "/internal/v1/invocations": lambda: dispatch_body(self.world.platform.card, self.world.platform.release),
            "/v1/workspaces/{workspaceId}/invocations": lambda: {**_call(of("target")), "input": {}, "stream": False},
            "/resolve-agent": lambda: {**_lineage(), **_call(of("target")), **space(), "version": "1.0.0"},
            "/resolve-installed-version": lambda: {**_lineage(), **_call(of("target")), **space()},
        }
        method, path = cell.operation.split(" ")
        found = [make for ending, make in made.items() if path.endswith(ending)]
        return found[-1]() if found and method in {"POST", "PATCH"} else None


def _lineage() -> dict[str, str]:
    return {"invocationId": new_id("inv"), "rootTaskId": new_id("task"), "traceId": new_trace_id()}


def _call(agent_id: str) -> dict[str, Any]:
    return {"agentId": agent_id, "capability": CAPABILITY}


async def digests(connection: "asyncpg.Connection[Any]") -> dict[str, str]:
    """Of every table; what no request changes is left out."""
    tables = [row[0] for row in await connection.fetch(_TABLES)]
    return {table: await connection.fetchval(_DIGEST.format(table=table)) for table in tables}


def ordered_life(spending: Sequence[Cell]) -> Sequence[Cell]:
    """In an order in which each still finds its object as it needs it: as in the table, uninstalling last."""
    order = [operation for rules in RULES.values() for operation in rules]
    late = {"PATCH": 1, "DELETE": 2}
    return sorted(spending, key=lambda cell: (late.get(cell.operation.split(" ")[0], 0), order.index(cell.operation)))
