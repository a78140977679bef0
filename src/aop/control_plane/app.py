"""Composition root of the Control Plane: builds all parts and connects them."""

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from aop.base.clock import Clock, utc_now
from aop.cards.reading import CardReader
from aop.control_plane.discovery.public_agents import PublicAgents
from aop.control_plane.discovery.search import Search
from aop.control_plane.dispatch.authorization import Authorization
from aop.control_plane.dispatch.invocations import Invocations
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.dispatch.router_client import RouterClient
from aop.control_plane.dispatch.streams import Streams
from aop.control_plane.gateway.access import MAX_ANONYMOUS, Callers, GatewayAccess, TokenCallers
from aop.control_plane.gateway.catalog import CatalogRoutes
from aop.control_plane.gateway.discovery import DiscoveryRoutes, PublicAgentRoutes
from aop.control_plane.gateway.invocations import InvocationRoutes
from aop.control_plane.gateway.lineage import LineageRoutes
from aop.control_plane.gateway.oidc.callers import OidcCallers
from aop.control_plane.gateway.oidc.key_set import KeySet
from aop.control_plane.gateway.providers import ProviderRoutes
from aop.control_plane.gateway.publication import PublicationRoutes
from aop.control_plane.gateway.status import status_routes
from aop.control_plane.gateway.tokens import require_reserved
from aop.control_plane.gateway.workspaces import WorkspaceRoutes
from aop.control_plane.internal_api.resolve import ResolveRoutes
from aop.control_plane.internal_api.topology_watch import topology_watch_routes
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.cards import Cards
from aop.control_plane.registry.challenges import ChallengePolicy, Challenges
from aop.control_plane.registry.changes import Changes, ChangeSignal
from aop.control_plane.registry.pins import Pins
from aop.control_plane.registry.proof_fetch import ProofFetch
from aop.control_plane.registry.releases import Releases
from aop.control_plane.settings import LISTEN_ADDRESS, MAX_INVOCATIONS, MAX_REQUESTS, ControlPlaneSettings
from aop.control_plane.workspace.installation_states import InstallationStates
from aop.control_plane.workspace.installations import Installations
from aop.control_plane.workspace.workspaces import Workspaces
from aop.net.http import HttpClient
from aop.net.origin import Endpoint
from aop.net.peer import Peer
from aop.net.policy import Lookup, NetworkPolicy, Resolver, system_lookup
from aop.serving.admission import Slots
from aop.serving.application import Application
from aop.serving.background import Observed, schema_workers, start_telemetry, unit_loops
from aop.serving.cors import CrossOrigin
from aop.serving.health import Check, Readiness, health_routes
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import UnitLog
from aop.serving.routing import Route
from aop.serving.unit import Descriptors, Serving, Unit, require_descriptors, serve
from aop.store.database import Database
from aop.store.store_check import require_store, require_version

UNIT = "control-plane"
STORES = ("registry", "workspace", "gateway")
_IDLE_SECONDS = 30.0
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class ControlPlaneEnvironment:
    """Clocks, name resolution and TLS, which tests replace."""

    clock: Clock = utc_now
    monotonic: Callable[[], float] = time.monotonic
    lookup: Lookup = system_lookup
    tls: ssl.SSLContext | None = None
    """Trust of the proof fetch; the usual roots when left out."""


@dataclass(frozen=True)
class _Parts:
    """Parts that are opened once and shared."""

    settings: ControlPlaneSettings
    clock: Clock
    monotonic: Callable[[], float]
    database: Database
    client: HttpClient
    proof_client: HttpClient
    resolver: Resolver
    signal: ChangeSignal
    installation_states: InstallationStates


async def run(settings: ControlPlaneSettings, handed: socket.socket | None = None) -> None:
    calls = settings.max_in_flight_invocations + settings.max_in_flight_requests
    use = Descriptors(calls, settings.unit.database_pool_size, f"{MAX_INVOCATIONS}, {MAX_REQUESTS}")
    max_connections = require_descriptors(use, settings.unit.max_connections)
    serving = Serving(settings.listen_address, LISTEN_ADDRESS, settings.unit.shutdown_grace_seconds, max_connections)
    await serve(serving, lambda: build(settings), handed)


async def build(settings: ControlPlaneSettings, environment: ControlPlaneEnvironment | None = None) -> Unit:
    environment = environment or ControlPlaneEnvironment()
    async with AsyncExitStack() as opened:
        database = await Database.open(
            settings.database_url.reveal(), size=settings.unit.database_pool_size, application=f"aop {UNIT}"
        )
        opened.push_async_callback(database.close)
        async with database.connection() as connection:
            for owner in STORES:
                await require_version(connection, owner)
            if settings.oidc is not None:
                await require_reserved(connection, settings.oidc.principal_prefix, environment.clock())
        parts = _Parts(
            settings,
            environment.clock,
            environment.monotonic,
            database,
            HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS),
            # A connection to a provider's endpoint serves one proof and is not kept.
            HttpClient(idle_seconds=0, connect_seconds=_CONNECT_SECONDS, tls=environment.tls),
            Resolver(environment.lookup),
            ChangeSignal(settings.database_url),
            InstallationStates(database),
        )
        for close in (parts.client.close, parts.proof_client.close, parts.installation_states.close):
            opened.push_async_callback(close)
        return _assemble(parts, opened.pop_all())


def _assemble(parts: _Parts, opened: AsyncExitStack) -> Unit:
    settings, database = parts.settings, parts.database
    log, metrics = UnitLog(UNIT, settings.unit.log_level), UnitMetrics(UNIT)
    loops = unit_loops(log, metrics)
    opened.push_async_callback(loops.close)
    loops.start("changes", parts.signal.turn, needed=False)
    opened.callback(parts.signal.end)
    workers = schema_workers(log, metrics)
    opened.push_async_callback(workers.close)
    checks: dict[str, Check] = {owner: _store_check(database, owner) for owner in STORES}
    readiness = Readiness(checks | {"loops": loops.check}, log, metrics)
    observed = Observed(log, metrics, loops, parts.resolver)
    tracing = start_telemetry(settings.unit.telemetry, observed, opened)
    access = GatewayAccess(
        _callers(parts, log, opened),
        Slots(settings.max_in_flight_invocations),
        Slots(settings.max_in_flight_requests),
        Slots(settings.max_in_flight_requests),
        Slots(MAX_ANONYMOUS),
    )
    metrics.in_flight(lambda: access.invocations.taken)
    router = RouterClient(
        Peer(settings.router_origin, parts.client, parts.resolver),
        settings.router_token,
        settings.metadata_response_max_bytes,
    )
    routes = [
        *health_routes(readiness, metrics),
        *status_routes(access, readiness, router),
        *_registry_routes(parts, access, CardReader(workers)),
        *_discovery_routes(parts, access),
        *_workspace_routes(parts, access, router),
        *topology_watch_routes(Changes(database), parts.signal, settings.internal_principals, _snapshots(settings)),
    ]
    application = Application(routes, log, metrics, CrossOrigin(settings.cors_allowed_origins), tracing, workers)
    slots = ((access.invocations, access.requests, access.anonymous), (access.resolves,))
    return Unit(application, readiness, slots, log, metrics, opened.aclose, end_watches=parts.signal.end)


def _callers(parts: _Parts, log: UnitLog, opened: AsyncExitStack) -> Callers:
    settings = parts.settings.oidc
    tokens = TokenCallers(parts.database, parts.clock, None if settings is None else settings.principal_prefix)
    opened.push_async_callback(tokens.close)
    if settings is None:
        return Callers(tokens, None)
    endpoint = Endpoint.parse(settings.jwks_url)
    keys = KeySet(endpoint, Peer(endpoint.origin, parts.client, parts.resolver), log, parts.monotonic)
    opened.push_async_callback(keys.close)
    return Callers(tokens, OidcCallers(settings, keys, parts.clock))


def _snapshots(settings: ControlPlaneSettings) -> Slots:
    """A snapshot holds a connection while its Router reads. Slow Routers must leave most of the pool to requests."""
    return Slots(max(1, settings.unit.database_pool_size // 4))


def _registry_routes(parts: _Parts, access: GatewayAccess, reader: CardReader) -> Sequence[Route]:
    settings, database, clock = parts.settings, parts.database, parts.clock
    cards = Cards(database, clock, settings.public_agent_origin)
    bindings, releases = Bindings(database, clock), Releases(database, clock)
    proofs = ProofFetch(NetworkPolicy(settings.unit.allowed_private_hosts, parts.resolver), parts.proof_client)
    policy = ChallengePolicy(settings.challenge_ttl_seconds, settings.verification_timeout_ms)
    challenges = Challenges(database, clock, proofs, policy)
    return [
        *CatalogRoutes(cards, reader, settings.card_max_bytes, settings.public_agent_origin).routes(access),
        *PublicationRoutes(bindings, challenges, releases, settings.request_max_bytes).routes(access),
        *ProviderRoutes(cards, bindings, releases).routes(access),
    ]


def _discovery_routes(parts: _Parts, access: GatewayAccess) -> Sequence[Route]:
    origin = parts.settings.public_agent_origin
    return [
        *DiscoveryRoutes(Search(parts.database, origin)).routes(access),
        *PublicAgentRoutes(PublicAgents(parts.database, origin)).routes(access),
    ]


def _workspace_routes(parts: _Parts, access: GatewayAccess, router: RouterClient) -> Sequence[Route]:
    settings, database, clock = parts.settings, parts.database, parts.clock
    pins, workspaces = Pins(database), Workspaces(database, clock)
    authorization = Authorization(parts.installation_states, pins)
    invocations = Invocations(
        authorization,
        router,
        max_deadline_ms=settings.unit.invocation_deadline_ms,
        max_result_bytes=settings.gateway_result_max_bytes,
    )
    streams = Streams(
        router, max_deadline_ms=settings.unit.invocation_deadline_ms, max_frame_bytes=settings.unit.sse_frame_max_bytes
    )
    installations = Installations(database, clock, pins)
    return [
        *WorkspaceRoutes(workspaces, installations, settings.request_max_bytes).routes(access),
        *InvocationRoutes(invocations, streams, settings.unit.invocation_request_max_bytes).routes(access),
        *LineageRoutes(workspaces, LineageReads(router)).routes(access),
        *ResolveRoutes(authorization, settings.request_max_bytes).routes(settings.internal_principals, access.resolves),
    ]


def _store_check(database: Database, owner: str) -> Check:
    async def check() -> None:
        async with database.connection() as connection:
            await require_store(connection, owner)

    return check
