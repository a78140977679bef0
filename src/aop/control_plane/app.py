"""Composition root of the Control Plane: builds all parts and connects them."""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from aop.base.clock import Clock, utc_now
from aop.cards.reading import CardReader
from aop.control_plane.discovery.public_agents import PublicAgents
from aop.control_plane.discovery.search import Search
from aop.control_plane.dispatch.authorization import Authorization
from aop.control_plane.dispatch.bundles import Bundles
from aop.control_plane.dispatch.invocations import Dispatches
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.dispatch.router_client import RouterClient
from aop.control_plane.dispatch.streams import Streams
from aop.control_plane.gateway.access import (
    MAX_ANONYMOUS,
    MAX_BUNDLES,
    MAX_COMPARISONS,
    MAX_SIGN_INS,
    Callers,
    GatewayAccess,
    TokenCallers,
)
from aop.control_plane.gateway.catalog import CatalogRoutes
from aop.control_plane.gateway.discovery import DiscoveryRoutes, PublicAgentRoutes
from aop.control_plane.gateway.identity import IdentityRoutes
from aop.control_plane.gateway.invocations import InvocationRoutes
from aop.control_plane.gateway.lineage import LineageRoutes
from aop.control_plane.gateway.making import PrincipalLocks
from aop.control_plane.gateway.oidc.callers import OidcCallers
from aop.control_plane.gateway.oidc.key_set import KeySet
from aop.control_plane.gateway.openapi import openapi_routes
from aop.control_plane.gateway.own_tokens import OwnTokens
from aop.control_plane.gateway.publication import PublicationRoutes
from aop.control_plane.gateway.reach import ReachRoutes
from aop.control_plane.gateway.sign_in import SignIn
from aop.control_plane.gateway.status import status_routes
from aop.control_plane.gateway.tokens import require_reserved
from aop.control_plane.gateway.workspaces import WorkspaceRoutes
from aop.control_plane.internal_api.resolve import ResolveRoutes
from aop.control_plane.internal_api.topology_watch import topology_watch_routes
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.cards import Cards
from aop.control_plane.registry.challenges import ChallengePolicy, Challenges
from aop.control_plane.registry.changes import Changes, ChangeSignal
from aop.control_plane.registry.owned_agents import OwnedAgents
from aop.control_plane.registry.pins import Pins
from aop.control_plane.registry.proof_fetch import ProofFetch
from aop.control_plane.registry.releases import Releases
from aop.control_plane.settings import ControlPlaneSettings
from aop.control_plane.workspace.callers import WorkspaceCallers
from aop.control_plane.workspace.installation_states import InstallationStates
from aop.control_plane.workspace.installations import Installations
from aop.control_plane.workspace.workspaces import Workspaces
from aop.net.authorities import beside_public
from aop.net.http import HttpClient
from aop.net.origin import Endpoint
from aop.net.peer import Peer
from aop.net.policy import Lookup, NetworkPolicy, system_lookup
from aop.serving.edge.admission import Slots
from aop.serving.edge.application import Application
from aop.serving.edge.cors import CrossOrigin
from aop.serving.edge.routing import Route
from aop.serving.unit.background import schema_workers, start_telemetry
from aop.serving.unit.foundation import Foundation, Stores, open_foundation
from aop.serving.unit.health import Readiness, health_routes
from aop.serving.unit.unit import Unit
from aop.serving.workers.worker_group import WorkerGroup

UNIT = "control-plane"
STORES = ("registry", "workspace", "gateway")
_IDLE_SECONDS = 30.0
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class ControlPlaneEnvironment:
    """Clocks and name resolution, which tests replace."""

    clock: Clock = utc_now
    monotonic: Callable[[], float] = time.monotonic
    lookup: Lookup = system_lookup
    group: WorkerGroup = field(default_factory=WorkerGroup)
    """The workers of this unit, of which this process is one."""


@dataclass(frozen=True)
class _Parts:
    """Parts that are opened once and shared."""

    settings: ControlPlaneSettings
    environment: ControlPlaneEnvironment
    foundation: Foundation
    client: HttpClient
    proof_client: HttpClient
    signal: ChangeSignal
    installation_states: InstallationStates


async def build(settings: ControlPlaneSettings, environment: ControlPlaneEnvironment | None = None) -> Unit:
    environment = environment or ControlPlaneEnvironment()
    async with AsyncExitStack() as opened:
        stores = Stores(settings.database_url, STORES)
        foundation = await open_foundation(UNIT, settings.unit, stores, environment.lookup, opened)
        if settings.oidc is not None:
            async with foundation.database.connection() as connection:
                await require_reserved(connection, settings.oidc.principal_prefix, environment.clock())
        tls, share = beside_public(settings.unit.ca_file), environment.group.share
        parts = _Parts(
            settings,
            environment,
            foundation,
            HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS, tls=tls, share=share),
            # A connection to a provider's endpoint serves one proof and is not kept.
            HttpClient(idle_seconds=0, connect_seconds=_CONNECT_SECONDS, tls=tls),
            ChangeSignal(settings.database_url),
            InstallationStates(foundation.database, environment.clock),
        )
        for close in (parts.client.close, parts.proof_client.close, parts.installation_states.close):
            opened.push_async_callback(close)
        return _assemble(parts, opened.pop_all())


def _assemble(parts: _Parts, opened: AsyncExitStack) -> Unit:
    settings, foundation = parts.settings, parts.foundation
    log, metrics, loops = foundation.log, foundation.metrics, foundation.loops
    group = parts.environment.group
    opened.push_async_callback(loops.close)
    loops.start("changes", parts.signal.turn, needed=False)
    opened.callback(parts.signal.end)
    workers = schema_workers(log, metrics, group.share)
    opened.push_async_callback(workers.close)
    checks = {owner: foundation.store_check(owner) for owner in STORES}
    readiness = Readiness(checks | {"writes": foundation.writes.check, "loops": loops.check}, log, metrics)
    tracing = start_telemetry(settings.unit.telemetry, foundation, opened)
    tokens = _token_callers(parts, opened)
    access = GatewayAccess(
        _callers(parts, tokens, opened),
        Slots(settings.max_in_flight_invocations),
        Slots(settings.max_in_flight_requests),
        Slots(settings.max_in_flight_requests),
        Slots(group.share.of(MAX_ANONYMOUS)),
        Slots(group.share.of(MAX_SIGN_INS)),
        Slots(group.share.of(MAX_BUNDLES)),
        Slots(group.share.of(MAX_COMPARISONS)),
    )
    metrics.in_flight(lambda: access.invocations.taken)
    router = RouterClient(
        Peer(settings.router_origin, parts.client, foundation.resolver, settings.router_socket_path),
        settings.router_token,
        settings.metadata_response_max_bytes,
    )
    routes = [
        *health_routes(readiness, metrics, group),
        *openapi_routes(access),
        *status_routes(access, readiness, router),
        *_identity_routes(parts, access, tokens),
        *_registry_routes(parts, access, CardReader(workers)),
        *_discovery_routes(parts, access),
        *_workspace_routes(parts, access, router),
        *_topology_routes(parts),
    ]
    cross_origin = CrossOrigin(settings.cors_allowed_origins)
    application = Application(routes, log, metrics, cross_origin, tracing, workers, foundation.writes.note)
    return Unit(application, readiness, access.drained, log, metrics, opened.aclose, end_watches=parts.signal.end)


def _token_callers(parts: _Parts, opened: AsyncExitStack) -> TokenCallers:
    settings = parts.settings.oidc
    reserved = None if settings is None else settings.principal_prefix
    tokens = TokenCallers(parts.foundation.database, parts.environment.clock, reserved)
    opened.push_async_callback(tokens.close)
    return tokens


def _callers(parts: _Parts, tokens: TokenCallers, opened: AsyncExitStack) -> Callers:
    settings, foundation, clock = parts.settings.oidc, parts.foundation, parts.environment.clock
    if settings is None:
        return Callers(tokens, None)
    endpoint = Endpoint.parse(settings.jwks_url)
    peer = Peer(endpoint.origin, parts.client, foundation.resolver)
    keys = KeySet(endpoint, peer, foundation.log, parts.environment.monotonic)
    opened.push_async_callback(keys.close)
    return Callers(tokens, OidcCallers(settings, keys, clock))


def _topology_routes(parts: _Parts) -> Sequence[Route]:
    # A snapshot holds a connection while its Router reads. Slow Routers must leave most of the pool to requests.
    snapshots = Slots(max(1, parts.settings.unit.database_pool_size // 4))
    changes = Changes(parts.foundation.database)
    return topology_watch_routes(changes, parts.signal, parts.settings.internal_principals, snapshots)


def _identity_routes(parts: _Parts, access: GatewayAccess, tokens: TokenCallers) -> Sequence[Route]:
    settings, database, clock = parts.settings, parts.foundation.database, parts.environment.clock
    locks = PrincipalLocks(database)
    own = OwnTokens(database, locks, clock, tokens.forget, settings.access_token_days)
    sign_in = SignIn(database, locks, clock)
    return IdentityRoutes(own, sign_in, settings.request_max_bytes).routes(access)


def _registry_routes(parts: _Parts, access: GatewayAccess, reader: CardReader) -> Sequence[Route]:
    settings, database, clock = parts.settings, parts.foundation.database, parts.environment.clock
    cards = Cards(database, clock, settings.public_agent_origin)
    owned = OwnedAgents(database, settings.public_agent_origin)
    bindings, releases = Bindings(database, clock), Releases(database, clock)
    network = NetworkPolicy(settings.unit.allowed_private_hosts, parts.foundation.resolver)
    proofs = ProofFetch(network, parts.proof_client)
    policy = ChallengePolicy(settings.challenge_ttl_seconds, settings.verification_timeout_ms)
    challenges = Challenges(database, clock, proofs, policy)
    return [
        *CatalogRoutes(cards, owned, reader, settings.card_max_bytes).routes(access),
        *PublicationRoutes(bindings, challenges, releases, settings.request_max_bytes).routes(access),
    ]


def _discovery_routes(parts: _Parts, access: GatewayAccess) -> Sequence[Route]:
    origin, database = parts.settings.public_agent_origin, parts.foundation.database
    return [
        *DiscoveryRoutes(Search(database, origin)).routes(access),
        *PublicAgentRoutes(PublicAgents(database, origin)).routes(access),
    ]


def _workspace_routes(parts: _Parts, access: GatewayAccess, router: RouterClient) -> Sequence[Route]:
    settings, database, clock = parts.settings, parts.foundation.database, parts.environment.clock
    pins, workspaces, callers = Pins(database), Workspaces(database, clock), WorkspaceCallers(database, clock)
    authorization = Authorization(parts.installation_states, pins)
    dispatches = Dispatches(
        router,
        max_deadline_ms=settings.unit.invocation_deadline_ms,
        max_result_bytes=settings.gateway_result_max_bytes,
    )
    streams = Streams(
        router, max_deadline_ms=settings.unit.invocation_deadline_ms, max_frame_bytes=settings.unit.sse_frame_max_bytes
    )
    installations, lineage = Installations(database, clock, pins), LineageReads(router)
    bundles = Bundles(lineage, parts.installation_states, pins)
    return [
        *WorkspaceRoutes(workspaces, callers, installations, settings.request_max_bytes).routes(access),
        *InvocationRoutes(authorization, dispatches, streams, settings.unit.invocation_request_max_bytes).routes(
            access
        ),
        *LineageRoutes(workspaces, lineage, bundles, clock).routes(access),
        *ReachRoutes(Releases(database, clock), installations, lineage, router).routes(access),
        *ResolveRoutes(authorization, settings.request_max_bytes).routes(settings.internal_principals, access.resolves),
    ]
