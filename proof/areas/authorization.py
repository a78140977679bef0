"""Authorization: every operation, every kind of visitor, every relation of its objects, each cell exact."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import asyncpg

from aop.base.ids import new_id, new_trace_id
from aop.net.http import HttpClient, Target
from proof.area import Area, Figure, Findings, Run, proves
from proof.authorization.removal import remove_while_calling
from proof.authorization.rules import OWN, RULES, Access, Outcome, Relation, Rule
from proof.authorization.world import Named, Visitor, World, opened_world
from tests.support.cards import a_card
from tests.support.loop import CAPABILITY
from tests.support.nested import nested_body
from tests.support.postgres import session
from tests.support.replicas import dispatch_body
from tests.support.units import Headers, RunningUnit

AT_ONCE = 16
WATCH = "GET /internal/v1/topology/watch"
# What happens by itself, and what reading with a token notes.
_TABLES = (
    "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN"
    " ('gateway', 'registry', 'workspace', 'ledger') AND tablename NOT IN ('checkpoint', 'release_calls', 'numbering',"
    " 'number', 'numbered_position', 'figure_key', 'figure_tile', 'figure',"
    " 'tree_tile', 'tree_head') ORDER BY 1"
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
        if access not in {Access.ANYONE, visitor.passes}:
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
        return self.rule.changes and self.expected[0] == self.rule.success


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
        named, unit = self.world.named[cell.visitor.owner], self.world.unit(cell.document, misplaced=misplaced)
        method, path = self._request_line(cell, named)
        headers = [(b"authorization", value.encode()) for value in cell.visitor.authorization]
        if misplaced or cell.operation == WATCH:
            return await self._head(unit, method, path, headers)
        reply = await unit.ask(method, path, self._body(cell, named), headers=headers)
        return reply.status, _refusal(reply.json) if reply.status >= 400 else ""

    def _request_line(self, cell: Cell, named: Named) -> tuple[str, str]:
        method, path = cell.operation.split(" ")
        for name, relation in cell.relations.items():
            path = path.replace(f"{{{name}}}", named[name, relation])
        # The other version to compare with has to be named: the same one.
        return method, f"{path}?from={path.split('/')[-2]}" if path.endswith("/compatibility") else path

    async def _head(self, unit: RunningUnit, method: str, path: str, headers: Headers) -> Outcome:
        """For an answer that may be endless when it is a good one: its head is enough."""
        target = Target("http", "127.0.0.1", unit.port, "127.0.0.1")
        deadline = asyncio.get_running_loop().time() + 10
        async with self.client.stream(
            target, method, path, headers=headers, deadline=deadline, max_body=2**20
        ) as answer:
            if answer.status < 300:
                return answer.status, ""
            return answer.status, _refusal(json.loads(b"".join([piece async for piece in answer])))

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
            "/v1/me/tokens": lambda: {"label": "new"},
            "/v1/sign-in": lambda: {"code": next(self.world.codes) if cell.relations["code"] is OWN else "unknown"},
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


def _refusal(error: Mapping[str, Any]) -> str:
    """The code; whom it forbids to act is also told by the reason."""
    code, reason = error["code"], error.get("reason")
    return f"{code} {reason}" if code == "FORBIDDEN" and reason is not None else code


def _lineage() -> dict[str, str]:
    return {"invocationId": new_id("inv"), "rootTaskId": new_id("task"), "traceId": new_trace_id()}


def _call(agent_id: str) -> dict[str, Any]:
    return {"agentId": agent_id, "capability": CAPABILITY}


async def prove(run: Run) -> Findings:
    found = Findings()
    client = HttpClient(idle_seconds=2, connect_seconds=5)
    async with run.stores() as (stores, superuser), opened_world(stores) as world, session(superuser) as connection:
        try:
            await _go_through(run, world, Doors(world, client, count(1)), connection, found)
        finally:
            await client.close()
    await remove_while_calling(run, found)
    return found


@proves("No refusal and no read changes a row of any table or writes a fact into the Ledger.")
async def _go_through(
    run: Run, world: World, doors: Doors, connection: "asyncpg.Connection[asyncpg.Record]", found: Findings
) -> None:
    everything = list(cells(world.visitors))
    harmless = [cell for cell in everything if not cell.spends]
    chance = run.random
    before = await digests(connection)
    for _ in range(run.pick(1, 10)):
        chance.shuffle(harmless)
        for start in range(0, len(harmless), AT_ONCE):
            await _try(doors, harmless[start : start + AT_ONCE], found)
    for cell in filter(lambda cell: cell.is_plain, everything):
        found.hits["misplaced"] += 1
        outcome = await doors.outcome(cell, misplaced=True)
        found.require(outcome == (404, "NOT_FOUND"), f"at the other unit, {cell}: {outcome}")
    after = await digests(connection)
    changed = [table for table in before if before[table] != after[table]]
    found.require(not changed, f"refusals and reads changed {changed}")
    found.figures += [
        Figure("combinations in the table", len(everything), at_least=3000),
        Figure("kinds of visitors", len(world.visitors)),
    ]
    await _spend(doors, [cell for cell in everything if cell.spends], connection, found)


@proves(
    "Every operation of the four OpenAPI documents gives every kind of visitor exactly the answer that its rules in"
    " `proof/authorization` give, for own, foreign, shared and absent objects and for Workspaces that the visitor may"
    " call or once could, in every combination."
)
async def _try(doors: Doors, some: Sequence[Cell], found: Findings) -> None:
    for cell, outcome in zip(some, await asyncio.gather(*map(doors.outcome, some)), strict=True):
        found.hits[str(cell.expected[0])] += 1
        found.require(outcome == cell.expected, f"{cell}: {outcome}, not {cell.expected}")


async def _spend(
    doors: Doors, spending: Sequence[Cell], connection: "asyncpg.Connection[asyncpg.Record]", found: Findings
) -> None:
    """What is allowed is done, once for each who may, and shows in the tables: the digest would tell a change."""
    before = await digests(connection)
    for cell in ordered_life(spending):
        await _try(doors, [cell], found)
        after = await digests(connection)
        found.require(after != before, f"{cell} changed nothing")
        before = after


async def digests(connection: "asyncpg.Connection[Any]") -> dict[str, str]:
    """Of every table; what no request changes is left out."""
    tables = [row[0] for row in await connection.fetch(_TABLES)]
    return {table: await connection.fetchval(_DIGEST.format(table=table)) for table in tables}


def ordered_life(spending: Sequence[Cell]) -> Sequence[Cell]:
    """In an order in which each still finds its object as it needs it: as in the table, uninstalling last."""
    order = [operation for rules in RULES.values() for operation in rules]
    late = {"PATCH": 1, "DELETE": 2}
    return sorted(spending, key=lambda cell: (late.get(cell.operation.split(" ")[0], 0), order.index(cell.operation)))


AREA = Area("authorization", "Authorization", prove, (_try, _go_through, Doors.outcome, remove_while_calling))
