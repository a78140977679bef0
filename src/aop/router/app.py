"""Composition root of the A2A Router: everything is wired here and nowhere else."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from aop.base.clock import Clock, utc_now
from aop.cards.checks import SchemaChecks
from aop.cards.workers import SchemaWorkers
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.model import Writer
from aop.ledger.months import Months
from aop.ledger.read.reader import LedgerReader
from aop.ledger.sequence.feed import FeedReader
from aop.ledger.sequence.sequencer import MAX_STATEMENT_SECONDS, Sequencer
from aop.ledger.tree.reader import TreeReader
from aop.ledger.write.checkpoints import Checkpoints
from aop.ledger.write.epochs import EpochWatch
from aop.ledger.write.journal import Journal
from aop.net.authorities import beside_public
from aop.net.http import HttpClient
from aop.net.peer import Peer
from aop.net.policy import Lookup, NetworkPolicy, system_lookup
from aop.router.a2a.agent import Agents, AnswerLimits
from aop.router.a2a.credential import Credentials, Issuer
from aop.router.a2a.skill_requests import RequestsOfSkills
from aop.router.api.delegation import Delegations
from aop.router.api.invocations import Invocations
from aop.router.api.nested import NestedInvocationRoutes
from aop.router.api.proofs import ProofRoutes
from aop.router.api.reads import LedgerReadRoutes
from aop.router.api.status import OwnStatus, status_routes
from aop.router.api.topology_status import topology_status_routes
from aop.router.invocation.acceptance import AcceptanceBoundary, CallLimits
from aop.router.invocation.execution import Execution
from aop.router.invocation.parents import ParentWatch
from aop.router.invocation.recording import FENCED, Fence, ledger_connect, open_journal
from aop.router.invocation.supervisor import InvocationSupervisor
from aop.router.metrics import RouterMetrics
from aop.router.settings import RouterSettings
from aop.router.targets.resolution import CardCache, Resolution
from aop.router.targets.topology import Topology
from aop.router.targets.topology_watch import TopologyWatch
from aop.serving.edge.admission import Slots
from aop.serving.edge.application import Application
from aop.serving.edge.routing import Route
from aop.serving.unit.background import schema_workers, start_telemetry
from aop.serving.unit.foundation import Foundation, Stores, open_foundation
from aop.serving.unit.health import Check, Readiness, health_routes
from aop.serving.unit.unit import Unit
from aop.serving.workers.worker_group import WorkerGroup

UNIT = "router"
STORE = "ledger"
_AGENT_IDLE_SECONDS = 2.0
_PEER_IDLE_SECONDS = 30.0


class TopologyNotLive(Exception):
    """No complete and fresh view of Release states."""


@dataclass(frozen=True)
class RouterEnvironment:
    """What the unit takes from the world around it."""

    clock: Clock = utc_now
    lookup: Lookup = system_lookup
    group: WorkerGroup = field(default_factory=WorkerGroup)
    """The workers of this unit, of which this process is one."""


@dataclass(frozen=True)
class _Parts:
    """What is opened once and shared."""

    settings: RouterSettings
    environment: RouterEnvironment
    foundation: Foundation
    journal: Journal
    counts: RouterMetrics
    supervisor: InvocationSupervisor
    agent_client: HttpClient
    peer: Peer
    workers: SchemaWorkers
    checks: SchemaChecks


async def build(settings: RouterSettings, environment: RouterEnvironment | None = None) -> Unit:
    environment = environment or RouterEnvironment()
    async with AsyncExitStack() as opened:
        stores = Stores(settings.database_url, (STORE,), Journal.additions)
        foundation = await open_foundation(
            UNIT, settings.unit, stores, environment.lookup, opened, instance=settings.router_id
        )
        log, metrics, loops = foundation.log, foundation.metrics, foundation.loops
        supervisor, counts = InvocationSupervisor(), RouterMetrics(metrics)
        counts.running(supervisor.__len__, supervisor.streams)
        journal, fence = await open_journal(settings, environment.clock, log, counts)
        opened.push_async_callback(journal.close)
        connect_seconds = settings.connect_timeout_ms / 1000
        tls = beside_public(settings.unit.ca_file)
        agent_client = HttpClient(idle_seconds=_AGENT_IDLE_SECONDS, connect_seconds=connect_seconds, tls=tls)
        share = environment.group.share
        peer_client = HttpClient(idle_seconds=_PEER_IDLE_SECONDS, connect_seconds=connect_seconds, tls=tls, share=share)
        for client in (agent_client, peer_client):
            opened.push_async_callback(client.close)
        opened.push_async_callback(loops.close)
        journal.start(loops)
        peer = Peer(settings.control_plane_origin, peer_client, foundation.resolver, settings.control_plane_socket_path)
        workers = schema_workers(log, metrics, share)
        opened.push_async_callback(workers.close)
        checks = SchemaChecks(
            workers, max_work_ms=settings.schema_work_ms, max_kept_bytes=settings.card_cache_bytes // 2
        )
        parts = _Parts(
            settings, environment, foundation, journal, counts, supervisor, agent_client, peer, workers, checks
        )
        return _assemble(parts, fence, opened)


def _assemble(parts: _Parts, fence: Fence, opened: AsyncExitStack) -> Unit:
    settings, foundation, supervisor = parts.settings, parts.foundation, parts.supervisor
    log, metrics, loops, database = foundation.log, foundation.metrics, foundation.loops, foundation.database
    cards = CardCache(settings.card_cache_bytes // 2)
    topology = Topology(parts.environment.clock, cards.forget)
    watch = TopologyWatch(parts.peer, settings.control_plane_token, topology)
    parts.counts.watched(topology)
    loops.start("topology watch", watch.turn)
    epochs, months = EpochWatch(database, settings.router_id, fence.epoch, fence.fall), Months(database)
    loops.start("epoch watch", epochs.turn)
    loops.start("checkpoints", Checkpoints(database, parts.journal).turn, needed=False)
    loops.start("months", months.turn, needed=False)
    connect = ledger_connect(settings, MAX_STATEMENT_SECONDS, "aop router sequencer")
    sequencer = Sequencer(connect, Writer(settings.router_id, fence.epoch))
    parts.counts.numbering(sequencer)
    loops.start("sequencer", sequencer.turn, needed=False)

    readiness = Readiness(_checks(parts, topology, epochs, months), log, metrics)
    tracing = start_telemetry(settings.unit.telemetry, foundation, opened)
    roots, children = Slots(settings.max_in_flight_invocations), Slots(settings.max_in_flight_children)
    ledger = LedgerReader(database)
    loops.start("parents", ParentWatch(ledger, supervisor).turn)
    group, principals = parts.environment.group, settings.service_principals
    tree, facts = TreeReader(database), parts.journal.unsettled
    status = OwnStatus(settings.router_id, readiness, topology, parts.workers, facts, sequencer, tree)
    reads = LedgerReadRoutes(ledger, FeedReader(database), FiguresReader(database), parts.environment.clock)
    routes = [
        *health_routes(readiness, metrics, group),
        *status_routes(status, principals, group),
        *topology_status_routes(topology, principals, group),
        *reads.routes(principals),
        *ProofRoutes(tree).routes(principals),
        *_invocation_routes(parts, topology, cards, ledger, (roots, children)),
    ]
    return Unit(
        Application(routes, log, metrics, tracing=tracing, workers=parts.workers, note_failure=foundation.writes.note),
        readiness,
        ((roots,), (children,)),
        log,
        metrics,
        opened.pop_all().aclose,
        abandon=supervisor.stop_all,
        must_end=fence.fallen,
        ending=FENCED,
    )


def _checks(parts: _Parts, topology: Topology, epochs: EpochWatch, months: Months) -> dict[str, Check]:
    as_expected = parts.foundation.store_check(STORE)

    async def store() -> None:
        await as_expected()
        await months.check()

    async def topology_live() -> None:
        if not topology.serves:
            raise TopologyNotLive

    return {
        STORE: store,
        "writes": parts.foundation.writes.check,
        "epoch": epochs.check,
        "ledger_settled": parts.journal.require_settled,
        "topology": topology_live,
        "loops": parts.foundation.loops.check,
    }


def _invocation_routes(
    parts: _Parts,
    topology: Topology,
    cards: CardCache,
    ledger: LedgerReader,
    slots: tuple[Slots, Slots],
) -> Sequence[Route]:
    settings, unit, credential = parts.settings, parts.settings.unit, parts.settings.credential
    issuer = Issuer(credential.issuer, credential.key_id, settings.agent_origin, credential.ttl_seconds)
    policy = NetworkPolicy(unit.allowed_private_hosts, parts.foundation.resolver)
    credentials = Credentials(issuer, credential.private_key)
    limits = AnswerLimits(settings.agent_response_limit_bytes, settings.a2a_event_limit_bytes)
    agents = Agents(policy, parts.agent_client, RequestsOfSkills(credentials), parts.checks, limits)
    resolution = Resolution(
        parts.peer,
        settings.control_plane_token,
        topology,
        cards,
        seconds=settings.resolve_timeout_ms / 1000,
        answer_limit=settings.control_plane_response_limit_bytes,
    )
    clock, phase_kinds = parts.environment.clock, parts.counts.phase_kinds
    max_bytes = unit.invocation_request_max_bytes
    call_limits = CallLimits(unit.invocation_deadline_ms, max_bytes, unit.sse_frame_max_bytes)
    boundary = AcceptanceBoundary(parts.journal, parts.checks, call_limits, agents)
    execution = Execution(parts.checks, parts.journal, parts.supervisor, parts.foundation.log, parts.counts, clock)
    invocations = Invocations(resolution, boundary, execution, parts.supervisor, phase_kinds, call_limits)
    delegations = Delegations(issuer, credential.private_key.delegation_key(), lambda: clock().timestamp())
    roots, children = slots
    nested = NestedInvocationRoutes(ledger, resolution, invocations, phase_kinds.resolve, max_bytes)
    return [
        *invocations.routes(settings.service_principals, roots),
        *nested.routes(delegations, children),
    ]
