"""The answer to an authorized call: accepted, then whole or streamed; a caller who leaves ends it `canceled`."""

import asyncio
from collections.abc import AsyncGenerator

from aop.router.api.answers import id_headers, outcome_response
from aop.router.invocation.acceptance import AcceptanceBoundary, AuthorizedCall, EndedAtAcceptance
from aop.router.invocation.execution import Execution
from aop.router.invocation.running import RunningInvocation, StopReason
from aop.router.stream.delivery import StreamDelivery
from aop.serving.request import Request, StreamFailure
from aop.serving.routing import RouteAnswer
from aop.serving.streaming import EventStream


class InvocationAnswers:
    def __init__(self, boundary: AcceptanceBoundary, execution: Execution, max_frame_bytes: int) -> None:
        self._boundary = boundary
        self._execution = execution
        self._max_frame_bytes = max_frame_bytes

    async def answer(self, request: Request, call: AuthorizedCall) -> RouteAnswer:
        """Raises a Refusal before the Invocation is accepted; from then on the answer is its outcome."""
        disconnect = request.scope["aop.disconnected"]
        accepted = await self._boundary.accept(call, disconnect.is_set)
        lineage = call.context.lineage
        request.invocation_id = lineage.invocation
        if isinstance(accepted, EndedAtAcceptance):
            self._execution.conclude(call.phases, accepted.outcome)
            return outcome_response(accepted.outcome, lineage)
        if disconnect.is_set():
            accepted.stop(StopReason.CALLER_LEFT)
        if call.stream:
            return self._streamed(accepted)
        # The slot is held until the terminal is recorded, also when nobody waits for it any more.
        return outcome_response(await self._execution.run_here(accepted, disconnect), lineage)

    def _streamed(self, running: RunningInvocation) -> EventStream:
        delivery = self._execution.start_stream(running, self._max_frame_bytes)
        headers = id_headers(running.lineage)
        return EventStream(self._frames(running, delivery), headers, failure=lambda: _failure(running))

    async def _frames(self, running: RunningInvocation, delivery: StreamDelivery) -> AsyncGenerator[bytes, None]:
        """A caller who leaves early ends the Invocation `canceled`. This ends when the terminal is recorded."""
        taken_all = False
        try:
            while (piece := await delivery.outbox.take()) is not None:
                yield piece
            taken_all = True
        finally:
            if not taken_all:
                await self._execution.leave(running)
            await asyncio.shield(running.ended)


def _failure(running: RunningInvocation) -> StreamFailure | None:
    if not running.ended.done():
        return None
    terminal = running.ended.result().terminal
    return None if terminal.error is None else (terminal.error, terminal.reason)
