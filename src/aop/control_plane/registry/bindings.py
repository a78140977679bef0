"""Endpoint Bindings: a provider claims to control the endpoint of a Card version."""

import msgspec

from aop.base.clock import Clock, from_text
from aop.contracts.card import AgentCard
from aop.contracts.errors import Conflict, ErrorCode, Forbidden, NotFound, Reason, Refusal
from aop.contracts.publication import BindingRequest, EndpointBinding
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.registry.cards import unknown_version
from aop.control_plane.registry.store import bindings, cards
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.store.database import Connection, Database


class EndpointRefused(Refusal):
    code = ErrorCode.INVALID_ENDPOINT


class Bindings:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, caller: str, provider_id: str, agent_id: str, request: BindingRequest) -> EndpointBinding:
        """Claims provider and Agent in the same transaction, so that a refusal claims nothing."""
        endpoint = _parsed(request.endpoint)
        async with self._database.transaction() as connection:
            card = await cards.find(connection, agent_id, request.version)
            if card is None:
                raise await unknown_version(connection, agent_id)
            if card.owner_id != caller:
                raise Forbidden("the Card belongs to another principal", reason=Reason.NOT_OWNER)
            declared = msgspec.json.decode(card.document, type=AgentCard).protocol.endpoint
            if _parsed(declared) != endpoint:
                raise EndpointRefused("not the endpoint of the Card")
            now = self._clock()
            await bindings.claim_provider(connection, provider_id, caller, now)
            if await bindings.provider_owner(connection, provider_id) != caller:
                raise Forbidden("the provider belongs to another principal", reason=Reason.NOT_OWNER)
            if await bindings.claim_agent(connection, agent_id, provider_id) != provider_id:
                raise Conflict("the Agent belongs to another provider", reason=Reason.AGENT_OF_OTHER_PROVIDER)
            return await bindings.insert(connection, provider_id, card, endpoint, request.method, now)

    async def read(self, caller: str, provider_id: str, binding_id: str) -> EndpointBinding:
        async with self._database.connection() as connection:
            return await own_binding(connection, caller, provider_id, binding_id)

    async def page(
        self, caller: str, provider_id: str, agent_id: str | None, after: TimePosition | None, limit: int
    ) -> ListPage[EndpointBinding, TimePosition]:
        async with self._database.connection() as connection:
            await require_own_provider(connection, caller, provider_id)
            items = await bindings.page(connection, provider_id, agent_id, after, limit + 1)
        return ListPage.cut(items, limit, lambda last: (from_text(last.created_at), last.binding_id))


async def require_own_provider(connection: Connection, caller: str, provider_id: str) -> None:
    owner = await bindings.provider_owner(connection, provider_id)
    if owner is None:
        raise NotFound("no such provider", reason=Reason.PROVIDER_UNKNOWN)
    if owner != caller:
        raise Forbidden("the provider belongs to another principal", reason=Reason.NOT_OWNER)


async def own_binding(connection: Connection, caller: str, provider_id: str, binding_id: str) -> EndpointBinding:
    await require_own_provider(connection, caller, provider_id)
    binding = await bindings.find(connection, provider_id, binding_id)
    if binding is None:
        raise NotFound("no such Binding of this provider", reason=Reason.BINDING_UNKNOWN)
    return binding


def _parsed(text: str) -> Endpoint:
    try:
        return Endpoint.parse(text)
    except InvalidEndpoint as problem:
        raise EndpointRefused(str(problem)) from None
