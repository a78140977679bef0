"""How an answer, or the lack of one, reaches the Router: each fault of the Agent ends as it would without the front."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Final

from aop.a2a.dialect import AgentResponse
from aop.agent.guard.guard import JSON, NO_STORE
from aop.agent.server.endpoint import EVENTS
from aop.front.conversation import PlainAnswer
from aop.front.faults import UpstreamFault, UpstreamTooLarge, UpstreamUnavailable, UpstreamUnreadable
from aop.net.asgi import AnswerBroken, Scope, Send
from aop.net.own_server import FixedHead, own_server
from aop.net.sse import frame

VAST: Final = b"1099511627776"
"""As a length: more than any Card allows, so that the Router refuses the answer at its head."""
_NOT_AVAILABLE: Final = b'{"message":"The Agent behind this front is not available"}'
_WHOLE: Final = (JSON, NO_STORE)
_OK: Final = FixedHead(200, _WHOLE)
_LEAVING_SECONDS: Final = 5.0
_FILLER: Final = b" " * 65_536


class Delivery:
    """Of one answer, on one connection of the Router."""

    def __init__(self, scope: Scope, send: Send, max_output: int) -> None:
        self._server = own_server(scope)
        self._send = send
        self._max_output = max_output
        self._streaming = False

    async def whole(self, body: bytes) -> None:
        await self._server.answer_fixed(_OK, body)

    async def stream(self, arrivals: AsyncGenerator[list[AgentResponse], None]) -> None:
        try:
            async with aclosing(arrivals):
                async for batch in arrivals:
                    await self._begin()
                    is_last = batch[-1].is_last
                    # In one write with the end of the answer, so that the Router can use the connection again.
                    await self._body(b"".join([framed(seen.text) for seen in batch]), more=not is_last)
                    if is_last:
                        return
        except PlainAnswer as plain:
            await self.whole(plain.seen.text)
        else:
            await self._begin()
            await self._body(b"", more=False)

    async def fault(self, fault: UpstreamFault) -> None:
        """After the head of a stream only its end can show it; AnswerBroken lets the server cut the connection."""
        if isinstance(fault, UpstreamTooLarge):
            await self._too_large()
            raise AnswerBroken
        if self._streaming:
            raise AnswerBroken
        if isinstance(fault, UpstreamUnreadable):
            await self._server.answer(200, ((b"content-type", fault.media_type), NO_STORE), fault.body)
        else:
            status = fault.status if isinstance(fault, UpstreamUnavailable) else 502
            await self._server.answer(status, _WHOLE, _NOT_AVAILABLE)

    async def _too_large(self) -> None:
        """The Router reads of more bytes than it takes, or in a stream an event without end, until it leaves."""
        gone = self._server.disconnect
        if not self._streaming:
            headers = [JSON, NO_STORE, (b"content-length", VAST)]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._body(b"", more=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVING_SECONDS):
                    await gone.wait()
            return
        await self._body(b"data: ", more=True)
        sent = 0
        while sent <= self._max_output and not gone.is_set():
            await self._body(_FILLER, more=True)
            sent += len(_FILLER)

    async def _begin(self) -> None:
        if not self._streaming:
            self._streaming = True
            await self._send({"type": "http.response.start", "status": 200, "headers": list(EVENTS)})

    async def _body(self, body: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


def framed(text: bytes) -> bytes:
    """An event of one line: in JSON a line end stands only where a blank may stand, too."""
    return frame(text.replace(b"\n", b" "))
