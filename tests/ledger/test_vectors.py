"""The lifecycle, lineage and read vectors against the store: what they accept is recorded and read, the rest is not."""

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from aop.base.clock import from_text
from aop.base.ids import new_opening_id
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.lineage import TERMINAL_STATUSES, EventType
from aop.ledger.model import (
    LOST,
    OPENING_EVENTS,
    Acceptance,
    Fact,
    LastFact,
    Opening,
    Progress,
    Terminal,
)
from aop.ledger.read.traces import LineageBroken
from aop.ledger.write.journal import AcceptanceFailed, AcceptanceRefused
from aop.local.state import DatabaseUrls
from tests.ledger.writing import Writing, breaches, digits, reading, writing
from tests.support.postgres import PostgresForTests
from tests.support.vectors import cases

Event = dict[str, Any]
CONTEXT = (
    "invocationId", "rootTaskId", "traceId", "parentInvocationId", "caller", "workspaceId", "targetAgentId",
    "agentCardVersion", "agentReleaseId", "agentCardDigest", "capability",
)  # fmt: skip
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_OPENINGS = {kinds: opening for opening, kinds in OPENING_EVENTS.items()}


class Unwritable(Exception):
    """The Ledger has no place for such a fact: what it says is computed, or not kept."""


def a_context(event: Event) -> InvocationContext:
    return InvocationContext(
        Lineage(event["invocationId"], event["rootTaskId"], event["traceId"], event.get("parentInvocationId")),
        Pin(
            event["workspaceId"],
            event["targetAgentId"],
            event["agentCardVersion"],
            event["agentReleaseId"],
            event["agentCardDigest"],
        ),
        Caller(type=CallerType(event["caller"]["type"]), id=event["caller"]["id"]),
        event["capability"],
    )


def an_acceptance(events: Sequence[Event]) -> Acceptance:
    """One row stands for the whole opening, at the moment of its last event."""
    opening = _OPENINGS.get(tuple(EventType(event["type"]) for event in events))
    if opening is None:
        raise Unwritable("no opening is like this")
    first, last = events[0], events[-1]
    event_id = first["eventId"].removeprefix("evt_")
    moment = from_text(last["occurredAt"])
    return Acceptance(a_context(first), opening, event_id, moment, from_text(first["deadlineAt"]))


def a_fact(place: LastFact, event: Event) -> Fact:
    kind = EventType(event["type"])
    if not document("invocation-event/0.3").is_valid(event) or kind in OPENING_EVENTS[Opening.STARTED]:
        raise Unwritable("only what the document allows can be said")
    context = a_context(event)
    behind = LastFact(context, place.opening, place.created_at, place.sequence, place.chunk_index, place.occurred_at)
    ids = {name: event.get("error", event).get(name) for name in ("invocationId", "rootTaskId", "traceId")}
    progress = Progress(event["chunkCount"], event["chunkBytes"]) if kind is EventType.STREAM else None
    code = ErrorCode(event["error"]["code"]) if "error" in event else None
    terminal = None if progress else Terminal(kind, code)
    moment, event_id = from_text(event["occurredAt"]), event["eventId"].removeprefix("evt_")
    fact = Fact(behind, event_id, moment, progress, terminal)
    if fact.sequence != event["sequence"] or fact.chunk_index != event.get("chunkIndex"):
        raise Unwritable("numbers are counted, not given")
    if any(event[name] != value for name, value in ids.items()) or {context.lineage.trace} != {ids["traceId"]}:
        raise Unwritable("ids of an error are those of its Invocation")
    return fact


async def replay(written: Writing, events: Sequence[Event]) -> None:
    """Appends the events the way the Router does."""
    opening = 0
    while opening < len(events) and events[opening]["type"] in {"created", "routing", "started"}:
        opening += 1
        if events[opening - 1]["type"] == "started":
            break
    acceptance, rest = an_acceptance(events[:opening]), list(events[opening:])
    if len(events) == opening + 1 and acceptance.opening != "started":
        terminal = a_fact(LastFact.opened(acceptance, acceptance.created_at), rest[0]).terminal
        if terminal is None:
            raise Unwritable("nothing but a terminal follows such an opening")
        await written.journal.accept_ended(acceptance, terminal)
        return
    place = await written.journal.accept(acceptance)
    for event in rest:
        if event["type"] == "created":
            await written.journal.accept(an_acceptance([event]))
        fact = a_fact(place, event)
        done = await (written.journal.progress(fact) if fact.terminal is None else written.journal.end(fact))
        if not done:
            raise AcceptanceRefused
        place = fact.as_last()


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def renamed(name: str) -> list[dict[str, Any]]:
    """The cases of a file, each with ids of its own, so that one Ledger can hold them all."""
    found = []
    for case in cases(name):
        text = json.dumps(case)
        for old in set(_ID.findall(text)):
            text = text.replace(old, new_opening_id())
        found.append(json.loads(text))
    return found


@pytest.mark.rows("LED-01", "LED-06")
async def test_the_ledger_takes_and_shows_every_good_lifecycle_and_refuses_every_other(stores: DatabaseUrls) -> None:
    async with reading(stores.router) as lineage, writing(stores.router) as written:
        for case in renamed("lifecycle"):
            try:
                await replay(written, case["events"])
                verdict = "accepted"
            except (Unwritable, ValueError, AcceptanceRefused, AcceptanceFailed):
                verdict = "refused"
            first = case["events"][0]
            found = await lineage.detail(first["workspaceId"], first["invocationId"])
            events = [] if found is None else as_json(found)["events"]
            assert all(event.get(name) == first.get(name) for event in events for name in CONTEXT), case["name"]
            if case.get("rule") == "context" and first["traceId"] == case["events"][-1]["traceId"]:
                verdict = "refused"  # there is no column to change: the context above is the first one's
            assert verdict == case["verdict"], case["name"]
            if verdict == "accepted":
                assert list(map(comparable, events)) == list(map(comparable, case["events"]))
            elif case.get("rule") != "context":
                assert len(events) <= case["at"], case["name"]
    assert await breaches(stores.router) == []


def comparable(event: Event) -> Event:
    """Without what the Ledger's opening tells otherwise: one moment, consecutive ids."""
    return {name: value for name, value in event.items() if name not in {"occurredAt", "latencyMs", "eventId"}}


@pytest.mark.rows("NEST-16")
async def test_a_child_is_accepted_exactly_when_it_fits_its_running_parent(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        for case in renamed("lineage"):
            parent = case["parent"]
            if len(parent) == 2:
                await written.journal.accept_ended(an_acceptance(parent), LOST)
            else:
                await replay(written, parent)
            child = an_acceptance([case["child"], *({"type": kind, **_at(case["child"])} for kind in _MORE)])
            try:
                place = await written.journal.accept(child)
                verdict = "accepted"
            except (AcceptanceRefused, AcceptanceFailed):
                verdict = "refused"
            if case.get("rule") == "time":
                # Skew between Routers never refuses a fact: the child counts from its parent's start.
                assert (verdict, place.created_at) == ("accepted", from_text(parent[-1]["occurredAt"]))
            else:
                assert verdict == case["verdict"], case["name"]
            page = await lineage.trace(parent[0]["workspaceId"], parent[0]["traceId"])
            assert page is not None
            assert len(page.trace.invocations) == (2 if verdict == "accepted" else 1)


_MORE = ("routing", "started")


def _at(event: Event) -> Event:
    return {"occurredAt": event["occurredAt"]}


async def _seed(connection: Any, record: Event) -> None:
    """A record as a broken store would have it: past triggers and foreign keys."""
    context = a_context(record)
    lineage, pin, parent = context.lineage, context.pin, context.lineage.parent
    invocation, root_task = digits(lineage.invocation), digits(lineage.root_task)
    created = from_text(record["createdAt"])
    await connection.execute(
        "INSERT INTO ledger.invocation VALUES ($1, $2, $3, $4::uuid,"
        " CASE WHEN $4::uuid IS NOT NULL THEN 'started' END, CASE WHEN $4::uuid IS NOT NULL THEN $5::timestamptz END,"
        " $6, $7, $8, $9, $10, $11, $12, $13, 'router-1',"
        " 1, 1, 'started', gen_random_uuid(), $5::timestamptz, $14)",
        invocation, root_task, lineage.trace, None if parent is None else digits(parent), created, context.caller.type,
        context.caller.id, pin.workspace, pin.agent, pin.version, digits(pin.release),
        bytes.fromhex(pin.card_digest), context.capability, from_text(record["deadlineAt"]),
    )  # fmt: skip
    if record["status"] in TERMINAL_STATUSES:
        ended = from_text(record["updatedAt"])
        await connection.execute(
            "INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, opening,"
            " trace_id, root_task_id, workspace_id, created_at, latency_ms, error_code, router_id, epoch)"
            " VALUES ($1, 3, gen_random_uuid(), $2, $3, 'running', 'started', $4, $5, $6, $7, $8, $9, 'router-1', 1)",
            invocation, ended, record["status"], lineage.trace, root_task, pin.workspace,
            created, (ended - created) // timedelta(milliseconds=1), record.get("errorCode"),
        )  # fmt: skip


@pytest.mark.rows("LED-09")
async def test_a_trace_is_shown_when_it_is_whole_and_is_never_shown_when_it_is_broken(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    await connection.execute("SET session_replication_role = replica")
    for table in ("invocation", "event"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER {table}_fenced")
    broken = {"parent_missing", "cycle", "root_task"}
    wanted = [case for case in renamed("reads") if case["read"] == "trace"]
    async with reading(stores.router) as lineage:
        for case in [case for case in wanted if case["verdict"] == "consistent" or case["rule"] in broken]:
            records = case["body"]["invocations"]
            for record in records:
                await _seed(connection, record)
            if case["verdict"] == "inconsistent":
                with pytest.raises(LineageBroken):
                    await lineage.trace(case["workspaceId"], case["id"])
                continue
            page = await lineage.trace(case["workspaceId"], case["id"])
            assert page is not None
            found = as_json(page.trace)
            assert document("trace/2").violations(found) == ()
            assert [item["invocationId"] for item in found["invocations"]] == [item["invocationId"] for item in records]
    await connection.close()
    problems = " ".join(await breaches(stores.router))
    assert "its parent is missing" in problems
    assert "its root task is not its parent's" in problems


async def test_another_workspace_has_no_such_record(stores: DatabaseUrls, postgres: PostgresForTests) -> None:
    events = cases("lifecycle")[0]["events"]
    root = digits(a_context(events[0]).lineage.root_task)
    made = f"SELECT ledger.make_month(ledger.month_of('{root}'))"
    await postgres.execute(made, stores.migration.rpartition("/")[2])
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        await replay(written, events)
        assert await lineage.detail("other", a_context(events[0]).lineage.invocation) is None
        assert await lineage.trace("other", events[0]["traceId"]) is None
