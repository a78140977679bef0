"""Composition root of the A2A Router: everything is wired here and nowhere else."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from aop.base.clock import Clock, utc_now
from aop.base.database import Connection, Database, connect
from aop.base.http import HttpClient
from aop.base.network_policy import LookUp, NetworkPolicy, Resolver, system_look_up
from aop.base.peer import Peer
from aop.base.store_check import require_store, require_version
from aop.ledger.checkpoints import Checkpoints
from aop.ledger.epochs import close_earlier, open_epoch
from aop.ledger.journal import Journal, Writer
from aop.ledger.lineage import Lineage
from aop.router.a2a.agent import Agents, AnswerLimits
from aop.router.acceptance import Accepting
from aop.router.api.invocations import InvocationCalls
from aop.router.api.nested import NestedCalls
from aop.router.api.reads import ReadCalls
from aop.router.api.running_answer import RunningAnswers
from aop.router.api.topology_status import topology_status_routes
from aop.router.credential import Credentials, Issuer
from aop.router.delegation import Delegations
from aop.router.execution import Execution
from aop.router.metrics import RouterMetrics
from aop.router.parents import ParentWatch
from aop.router.resolution import CardCache, Resolution
from aop.router.settings import LISTEN_ADDRESS, MAX_CHILDREN, MAX_INVOCATIONS, ROUTER_ID, RouterSettings
from aop.router.supervisor import Supervisor
from aop.router.topology import Topology
from aop.router.topology_watch import TopologyWatch
from aop.serving.admission import Slots
from aop.serving.application import Application
from aop.serving.health import Readiness, health_routes
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import Level, UnitLog
from aop.serving.routing import Route
from aop.serving.telemetry import Observed, start_telemetry
from aop.serving.unit import Serving, Unit, require_descriptors, serve

UNIT = "router"
STORE = "ledger"
_AGENT_IDLE_SECONDS = 2.0
_PEER_IDLE_SECONDS = 30.0


class TopologyNotLive(Exception):
    """No complete and fresh view of Release states."""


@dataclass(frozen=True)
class Outside:
    """What the unit takes from the world around it."""

    clock: Clock = utc_now
    look_up: LookUp = system_look_up


@dataclass(frozen=True)
class _Parts:
    """What is opened once and shared."""

    settings: RouterSettings
    outside: Outside
    log: UnitLog
    database: Database
    journal: Journal
    metrics: UnitMetrics
    counts: RouterMetrics
    supervisor: Supervisor
    agent_client: HttpClient
    peer: Peer
    resolver: Resolver


async def run(settings: RouterSettings) -> None:
    calls = settings.max_in_flight_invocations + settings.max_in_flight_children
    require_descriptors(calls, settings.unit.database_pool_size, f"{MAX_INVOCATIONS}, {MAX_CHILDREN}")
    serving = Serving(settings.listen_address, LISTEN_ADDRESS, settings.unit.shutdown_grace_seconds)
    await serve(serving, lambda: build(settings))


async def build(settings: RouterSettings, outside: Outside | None = None) -> Unit:
    outside = outside or Outside()
    log = UnitLog(UNIT, settings.unit.log_level)
    async with AsyncExitStack() as opened:
        database = await Database.open(
            settings.database_url.reveal(), size=settings.unit.database_pool_size, application=f"aop {UNIT}"
        )
        opened.push_async_callback(database.close)
        async with database.connection() as connection:
            await require_version(connection, STORE)
        metrics, supervisor = UnitMetrics(UNIT), Supervisor()
        counts = RouterMetrics(metrics)
        counts.running(supervisor.__len__, supervisor.streams)
        journal, fenced = await _open_journal(settings, outside.clock, log, counts)
        opened.push_async_callback(journal.close)
        resolver = Resolver(outside.look_up)
        connect_seconds = settings.connect_timeout_ms / 1000
        agent_client = HttpClient(idle_seconds=_AGENT_IDLE_SECONDS, connect_seconds=connect_seconds)
        peer_client = HttpClient(idle_seconds=_PEER_IDLE_SECONDS, connect_seconds=connect_seconds)
        for client in (agent_client, peer_client):
            opened.push_async_callback(client.close)
        peer = Peer(settings.control_plane_origin, peer_client, resolver)
        parts = _Parts(
            settings, outside, log, database, journal, metrics, counts, supervisor, agent_client, peer, resolver
        )
        return _assemble(parts, fenced, opened)


async def _open_journal(
    settings: RouterSettings, clock: Clock, log: UnitLog, counts: RouterMetrics
) -> tuple[Journal, asyncio.Event]:
    """Opens this life's epoch and ends what earlier ones left open, before anything is served."""
    fenced = asyncio.Event()

    async def connected() -> Connection:
        return await connect(settings.database_url.reveal(), application=f"aop {UNIT} ledger")

    connection = await connected()
    try:
        epoch = await open_epoch(connection, settings.router_id)
        closing = await close_earlier(connection, settings.router_id, epoch, clock)
    finally:
        connection.terminate()
    if closing.ended:
        log.event("ledger.closed_open_invocations", level=Level.WARNING, cause=f"{closing.ended} of an earlier epoch")

    def refused() -> None:
        log.event("ledger.fenced", level=Level.ERROR, cause=f"{ROUTER_ID} is used by a newer Router process")
        fenced.set()

    writer = Writer(settings.router_id, epoch)
    seconds = settings.ledger_write_timeout_ms / 1000
    journal = Journal(writer, connected, clock, write_seconds=seconds, fenced=refused, wrote=counts.ledger_wrote)
    journal.start()
    return journal, fenced


def _assemble(parts: _Parts, fenced: asyncio.Event, opened: AsyncExitStack) -> Unit:
    settings, log, database = parts.settings, parts.log, parts.database
    metrics, supervisor, cards = parts.metrics, parts.supervisor, CardCache()
    topology = Topology(parts.outside.clock, cards.forget)
    watch = TopologyWatch(parts.peer, settings.control_plane_token, topology)
    parts.counts.watched(topology)
    watch.start()
    opened.push_async_callback(watch.close)
    checkpoints = Checkpoints(database, parts.journal)
    checkpoints.start()
    opened.push_async_callback(checkpoints.close)

    async def ledger_store() -> None:
        async with database.connection() as connection:
            await require_store(connection, STORE)

    async def topology_live() -> None:
        if not topology.live:
            raise TopologyNotLive

    readiness = Readiness({STORE: ledger_store, "topology": topology_live}, log, metrics)
    observed = Observed(log, metrics, readiness, parts.resolver, settings.router_id)
    tracing = start_telemetry(settings.unit.telemetry, observed, opened)
    roots, children = Slots(settings.max_in_flight_invocations), Slots(settings.max_in_flight_children)
    lineage = Lineage(database)
    parents = ParentWatch(lineage, supervisor)
    parents.start()
    opened.push_async_callback(parents.close)
    invocations = _invocation_routes(parts, topology, cards, lineage, (roots, children))
    routes = [
        *health_routes(readiness, metrics),
        *topology_status_routes(topology, settings.service_principals),
        *ReadCalls(lineage).routes(settings.service_principals),
        *invocations,
    ]
    return Unit(
        Application(routes, log, metrics, tracing=tracing),
        readiness,
        ((roots,), (children,)),
        log,
        opened.pop_all().aclose,
        abandon=supervisor.stop_all,
        must_end=fenced,
    )


def _invocation_routes(
    parts: _Parts,
    topology: Topology,
    cards: CardCache,
    lineage: Lineage,
    slots: tuple[Slots, Slots],
) -> Sequence[Route]:
    settings, unit, credential = parts.settings, parts.settings.unit, parts.settings.credential
    issuer = Issuer(credential.issuer, credential.key_id, settings.agent_origin, credential.ttl_seconds)
    agents = Agents(
        NetworkPolicy(unit.allowed_private_hosts, parts.resolver),
        parts.agent_client,
        Credentials(issuer, credential.private_key),
    )
    resolution = Resolution(
        parts.peer,
        settings.control_plane_token,
        topology,
        cards,
        seconds=settings.resolve_timeout_ms / 1000,
        answer_limit=settings.control_plane_response_limit_bytes,
    )
    longest, most_input = unit.invocation_deadline_ms, unit.invocation_request_max_bytes
    phases = parts.counts.phases
    accepting = Accepting(topology, resolution, parts.journal, phases, longest_ms=longest, most_input=most_input)
    limits = AnswerLimits(settings.agent_response_limit_bytes, settings.a2a_event_limit_bytes)
    execution = Execution(agents, parts.journal, parts.supervisor, parts.log, parts.counts, parts.outside.clock, limits)
    answers = RunningAnswers(execution, unit.sse_frame_max_bytes)
    delegations = Delegations(issuer, credential.private_key.public, lambda: parts.outside.clock().timestamp())
    roots, children = slots
    return [
        *InvocationCalls(accepting, answers, most_input).routes(settings.service_principals, roots),
        *NestedCalls(lineage, resolution, accepting, answers, phases, most_input).routes(delegations, children),
    ]
