"""Everything the door asks of the Gateway, each time with the bearer of the door's own caller.

The door has no rights of its own and decides nothing: what a caller may see or run, the Gateway says for that caller.
Answers are checked as the client checks them. Every failure is a GatewayFault.
"""

import asyncio
import ssl
from collections.abc import Awaitable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import msgspec

from aop.base.recent import RecentlyUsed, TtlCache
from aop.client.answers import trace_of
from aop.client.call import Call, json_of
from aop.client.catalog import ExactCard
from aop.client.errors import ClientError
from aop.client.operations import AsyncOperations
from aop.client.request import OperationRequest, OperationRoute
from aop.client.stream import ResultStream
from aop.contracts.card import AgentCard
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.health import Health
from aop.contracts.invocation import InvocationRequest, InvocationResult, StreamEvent
from aop.contracts.lineage import InvocationDetail
from aop.contracts.workspace import Installation, InstallationStatus, Workspace
from aop.door.bearers import Bearer
from aop.door.faults import GatewayFault, fault_of
from aop.door.installed import FRESH_SECONDS, InstalledAgent
from aop.net.http import Answer

T = TypeVar("T")

INVOKE_SECONDS: Final = 620.0
"""The most time an Invocation may run, and the platform's own bounds after it."""

_AgentsByKey = TtlCache[tuple[bytes, str, str], InstalledAgent]
_Cards = RecentlyUsed[tuple[str, str], ExactCard]
"""By Agent and version, which never change."""
_CARD_BYTES: Final = 64 * 1024 * 1024
_OK: Final = (200,)
_READY: Final = OperationRoute("GET", "/readyz", _OK)
_encode: Final = msgspec.json.Encoder().encode


class Gateway:
    """The one configured Gateway and the connections to it, which all callers share."""

    def __init__(
        self, origin: str, answer_max_bytes: int, *, ca: Path | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        """`ca` and `tls` are those of the client: without them, SSL_CERT_FILE or the certifi roots."""
        self._client = AsyncOperations(origin, max_answer_bytes=answer_max_bytes, ca=ca, tls=tls)
        self._cards: _Cards = RecentlyUsed(_CARD_BYTES)
        self._agents: _AgentsByKey = TtlCache(FRESH_SECONDS)

    def caller(self, bearer: Bearer, workspace_id: str) -> "DoorCaller":
        return DoorCaller(self._client, bearer, workspace_id, self._cards, self._agents)

    async def judge(self, bearer: Bearer) -> None:
        """A fault UNAUTHENTICATED unless it stands for somebody. No question costs the Gateway less: it reads nothing
        but the token."""
        await _read(self._client.bearing(bearer.token).read_me())

    async def check(self) -> None:
        """Raises unless the Gateway says that it is ready."""
        await self._client.send(_READY.request(Call(json_of(Health), anonymous=True)))

    async def close(self) -> None:
        """Ends every call that still runs."""
        await self._client.close()


class DoorCaller:
    """Who asks the door in one request: a bearer, and the Workspace of the path. Whether the one may use the other
    is not judged yet."""

    __slots__ = ("_agents", "_bearer", "_cards", "_client", "workspace_id")

    def __init__(
        self,
        client: AsyncOperations,
        bearer: Bearer,
        workspace_id: str,
        cards: _Cards,
        agents: _AgentsByKey,
    ) -> None:
        self._client = client
        self._bearer = bearer
        self._cards = cards
        self._agents = agents
        self.workspace_id = workspace_id

    @property
    def _reading(self) -> AsyncOperations:
        """For everything but Invocations, which are too many for an object of their own each."""
        return self._client.bearing(self._bearer.token)

    @property
    def key(self) -> tuple[bytes, str]:
        """Names the bearer and the Workspace in memory."""
        return self.bearer, self.workspace_id

    @property
    def bearer(self) -> bytes:
        """Names the bearer to other workers of the door, without its token."""
        return self._bearer.digest

    async def workspace(self) -> Workspace:
        """A fault for everybody whom the Gateway does not let see it: the cheapest way to have a bearer judged."""
        return await _read(self._reading.read_workspace(self.workspace_id))

    async def installed(self) -> tuple[InstalledAgent, ...]:
        """Everything that can be called now: enabled Installations with their Cards."""
        enabled = [one for one in await self._installations() if one.status is InstallationStatus.ENABLED]
        return tuple([InstalledAgent(one, await self._card(one)) for one in enabled])

    async def agent(self, agent_id: str) -> InstalledAgent:
        """One of them, perhaps as it was a moment ago; a fault where the Gateway would refuse to call it."""
        key, now = (*self.key, agent_id), asyncio.get_running_loop().time()
        found = self._agents.find(key, now)
        if found is None:
            found = await self._find(agent_id)
            self._agents.keep(key, found, now)
        return found

    async def _find(self, agent_id: str) -> InstalledAgent:
        for one in reversed(await self._installations()):
            if one.agent_id == agent_id and one.status is InstallationStatus.ENABLED:
                return InstalledAgent(one, await self._card(one))
            if one.agent_id == agent_id and one.status is InstallationStatus.DISABLED:
                raise GatewayFault(ErrorCode.INSTALLATION_DISABLED)
        raise GatewayFault(ErrorCode.AGENT_NOT_INSTALLED, Reason.NOT_INSTALLED)

    async def _installations(self) -> list[Installation]:
        """Current and former ones, oldest first."""
        try:
            async with asyncio.timeout(self._client.timeout):
                return [one async for one in self._reading.list_installations(self.workspace_id)]
        except ClientError as error:
            raise fault_of(error) from error
        except TimeoutError:
            raise GatewayFault(ErrorCode.DEPENDENCY_ERROR) from None

    async def _card(self, installation: Installation) -> AgentCard:
        """From memory only after the Gateway has just shown this caller the Installation that pins it."""
        key = installation.agent_id, installation.installed_version
        found = self._cards.find(key)
        if found is None:
            found = await _read(self._reading.read_agent_card(*key))
            self._cards.keep(key, found, len(found.body))
        return found.card

    async def invocation(self, invocation_id: str) -> InvocationDetail:
        """What the Ledger says of one Invocation; neither input nor output."""
        return await _read(self._reading.read_invocation(self.workspace_id, invocation_id))

    async def invoke(self, agent_id: str, skill_id: str, content: msgspec.Raw) -> InvocationResult:
        """One Invocation in JSON mode. Cancelling it closes the connection, which cancels the Invocation."""
        try:
            return await self._client.send(self._invoking(agent_id, skill_id, content, stream=False))
        except ClientError as error:
            raise fault_of(error, invoking=True) from error

    def stream(self, agent_id: str, skill_id: str, content: msgspec.Raw) -> "ArrivingResult":
        """One streamed Invocation. `async with` begins it and is entered once it was accepted; leaving the block before
        its terminal cancels it."""
        request = self._invoking(agent_id, skill_id, content, stream=True)
        return ArrivingResult(self._client.streaming(request, strict=False))

    def _invoking(
        self, agent_id: str, skill_id: str, content: msgspec.Raw, *, stream: bool
    ) -> OperationRequest[InvocationResult]:
        """The content is one JSON value already; whether it is strict JSON and fits the Skill, the platform says."""
        body = InvocationRequest(agent_id=agent_id, capability=skill_id, input=content, stream=stream)
        bearer = (b"authorization", b"Bearer " + self._bearer.token.reveal().encode("ascii"))
        call = Call(_result, body=_encode(body), headers=(bearer,), patience=INVOKE_SECONDS)
        # A path value of a route needs no escapes.
        return OperationRequest("POST", f"/v1/workspaces/{self.workspace_id}/invocations", _OK, call)


class ArrivingResult:
    """The events of one accepted Invocation, each checked: `accepted`, the chunks in order, exactly one terminal.

    An end without terminal is a GatewayFault. `arrived` gives those together that came together, so that they can be
    passed on together.
    """

    __slots__ = ("_stream",)

    def __init__(self, stream: ResultStream[Any]) -> None:
        self._stream = stream

    @property
    def invocation_id(self) -> str:
        return self._stream.invocation_id or ""

    @property
    def trace_id(self) -> str:
        return self._stream.trace_id or ""

    async def __aenter__(self) -> "ArrivingResult":
        try:
            await self._stream.__aenter__()
        except ClientError as error:
            raise fault_of(error, invoking=True) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.aclose()

    async def arrived(self) -> list[StreamEvent]:
        """The next events, of which the terminal comes alone; none after it."""
        if self._stream.terminal is not None:
            return []
        try:
            return await self._stream.next_events()
        except ClientError as error:
            raise fault_of(error, invoking=True) from error


_read_result: Final = json_of(InvocationResult, strict=False)


def _result(answer: Answer) -> InvocationResult:
    result = _read_result(answer)
    if result.trace_id != trace_of(answer):
        raise ValueError("it belongs to another Trace")
    return result


async def _read(reading: Awaitable[T]) -> T:
    try:
        return await reading
    except ClientError as error:
        raise fault_of(error) from error
