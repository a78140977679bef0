"""One call of a tool: its arguments as the input of a Skill, one Invocation as the caller, each chunk on its way."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from aop.base.json import NOT_READ
from aop.client.errors import PlatformError
from aop.contracts.errors import ErrorCode, Reason, Violation
from aop.contracts.invocation import StreamEvent
from aop.contracts.text import cleaned
from aop.door.faults import GatewayFault, fault_of
from aop.door.gateway import ArrivingResult
from aop.door.mcp.messages import Fault, ProtocolFault
from aop.door.mcp.results import ToolResult, result_of_chunks
from aop.door.mcp.schemas import INPUT
from aop.door.mcp.tools import SkillTool
from aop.serving.unit.held import HeldBytes, HeldMemory

MAX_MESSAGE: Final = 4096
"""Characters of a chunk that a progress message shows. The result holds all of it."""

_QUOTE: Final = b'"'
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class DoorMemory(HeldMemory):
    """The chunks of all calls that stream: they must be held, because the result of a tool is one document."""

    def full(self) -> Exception:
        return GatewayFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.BODY_SIZE)


class CancelledByClient(Exception):
    """The client took its request back while the call ran."""


def skill_input(tool: SkillTool, arguments: msgspec.Raw | msgspec.UnsetType) -> msgspec.Raw:
    """Whether it fits the Skill, the platform says; here it only must be what can be sent."""
    raw = msgspec.Raw(b"{}") if arguments is msgspec.UNSET else arguments
    try:
        members = _members(raw) if tool.wrapped or not bytes(raw).startswith(b"{") else {}
    except NOT_READ:
        raise ProtocolFault(Fault.PARAMS, "The arguments must be an object") from None
    if not tool.wrapped:
        return raw
    if members.keys() != {INPUT}:
        refused = GatewayFault(ErrorCode.VALIDATION_ERROR)
        refused.violations = (Violation(f"/{INPUT}", "required"),)
        raise refused
    return members[INPUT]


class StreamedCall:
    """An accepted streamed Invocation. Its chunks are iterated; `result` is complete once they ended."""

    def __init__(self, arriving: ArrivingResult, memory: HeldMemory, max_bytes: int) -> None:
        self._arriving = arriving
        self._memory = memory
        self._held = memory.held()
        self._max_bytes = max_bytes
        self._chunks: list[bytes] = []
        self._cancelled = False
        self._reading: asyncio.Timeout | None = None

    @property
    def result(self) -> ToolResult:
        return result_of_chunks(self._chunks, self._arriving.trace_id, self._arriving.invocation_id)

    def cancel(self) -> None:
        """From another task: the iteration raises CancelledByClient where it waits."""
        self._cancelled = True
        if self._reading is not None:
            self._reading.reschedule(0)

    def written(self, text: bytes) -> HeldBytes:
        """Counts what its client gets before the result, for as long as it is on its way."""
        written = self._memory.held()
        written.add(len(text))
        return written

    async def chunks(self) -> AsyncIterator[list[bytes]]:
        """Those that arrived together at a time.

        Raises a GatewayFault unless the Invocation is completed; chunks before that are incomplete output.
        """
        with self._held:
            while events := await self._next():
                if (error := events[0].error) is not msgspec.UNSET:  # a terminal comes alone
                    raise fault_of(PlatformError.of(error))
                if chunks := [bytes(one.chunk) for one in events if one.chunk is not msgspec.UNSET]:
                    self._keep(chunks)
                    yield chunks

    async def _next(self) -> list[StreamEvent]:
        if self._cancelled:
            raise CancelledByClient
        try:
            async with asyncio.timeout(None) as self._reading:
                return await self._arriving.arrived()
        except TimeoutError:
            raise CancelledByClient from None
        finally:
            self._reading = None

    def _keep(self, chunks: list[bytes]) -> None:
        self._chunks += chunks
        self._held.add(sum(map(len, chunks)))
        if self._held.size > self._max_bytes:
            raise GatewayFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.BODY_SIZE)


def progress_message(chunk: bytes) -> str:
    """What people see of a chunk: a text as it is, anything else as JSON, without hidden characters."""
    if chunk.startswith(_QUOTE):
        text = msgspec.json.decode(chunk, type=str)
    else:
        text = chunk[: 4 * MAX_MESSAGE].decode("utf-8", "ignore")
    return cleaned(text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…")
