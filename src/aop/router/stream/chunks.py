"""The chunks of one stream: each checked against the Skill's output schema, counted and delivered, in order."""

from collections.abc import Coroutine, Sequence
from typing import Any

from aop.a2a.answers import AgentFault
from aop.cards.checks import PreparedSchema, SchemaChecks, read_value
from aop.contracts.errors import ErrorCode, Reason
from aop.router.a2a.streaming import UNREAD
from aop.router.metrics import RouterMetrics
from aop.router.stream.delivery import StreamDelivery


class CheckedChunks:
    def __init__(
        self,
        stream: StreamDelivery,
        checks: SchemaChecks,
        output: bytes,
        prepared: PreparedSchema,
        metrics: RouterMetrics,
    ) -> None:
        self._stream = stream
        self._checks = checks
        self._output = output
        self._validator = prepared.validator
        self._small_bytes = -1 if prepared.validator is None else prepared.small_bytes
        self._together_bytes = min(self._small_bytes, stream.frames.fitting_bytes)
        self._metrics = metrics

    def deliver(self, chunks: Sequence[bytes], values: Sequence[object]) -> Coroutine[Any, Any, None] | None:
        """Chunks that came together, and the value of each, or UNREAD. What it returns is awaited before the next ones;
        only a chunk that is not small, one that must not be delivered or a slow caller gives something."""
        if len(chunks) == 1:
            return self._one(chunks[0], values[0])
        validator = self._validator
        if (
            validator is None
            or max(map(len, chunks)) > self._together_bytes
            or not all(map(validator.is_valid, values))
        ):
            return self._each(chunks, values)
        self._metrics.chunks += len(chunks)
        return None if self._stream.chunks(chunks) else self._stream.outbox.room()

    def _one(self, chunk: bytes, value: object) -> Coroutine[Any, Any, None] | None:
        validator = self._validator
        if validator is None or len(chunk) > self._small_bytes:
            return self._large(chunk)
        if not validator.is_valid(read_value(chunk) if value is UNREAD else value):
            raise AgentFault(ErrorCode.A2A_PROTOCOL_ERROR, Reason.OUTPUT_SCHEMA)
        self._metrics.chunks += 1
        return None if self._stream.chunk(chunk) else self._stream.outbox.room()

    async def _each(self, chunks: Sequence[bytes], values: Sequence[object]) -> None:
        """Those in front of a chunk that ends the Invocation are delivered."""
        for chunk, value in zip(chunks, values, strict=True):
            if (waiting := self._one(chunk, value)) is not None:
                await waiting

    async def _large(self, chunk: bytes) -> None:
        if not await self._checks.conforms(self._output, chunk):
            raise AgentFault(ErrorCode.A2A_PROTOCOL_ERROR, Reason.OUTPUT_SCHEMA)
        self._metrics.chunks += 1
        if not self._stream.chunk(chunk):
            await self._stream.outbox.room()
