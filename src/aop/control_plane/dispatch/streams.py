"""Relays a result stream of the Router: frame by frame, checked for framing and JSON syntax, otherwise untouched."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack

import msgspec

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.invocation import CorrelatedError
from aop.control_plane.dispatch.invocations import (
    GUARD_SECONDS,
    MAX_ERROR_BYTES,
    Dispatch,
    RouterAnswer,
    RouterFailed,
    router_error,
    router_lost,
    seen_by_router,
)
from aop.control_plane.dispatch.router_client import FAILURES, RouterClient
from aop.net.headers import HeaderMap
from aop.net.http import Headers, StreamedAnswer
from aop.net.sse import COMMENT, EventTooLarge, FrameReader, FramingBroken

_syntax = msgspec.json.Decoder(msgspec.Raw).decode


class _Ending(msgspec.Struct):
    """What a log says of a terminal event; no other event has an error."""

    error: CorrelatedError | None = None


_ending = msgspec.json.Decoder(_Ending).decode


class OpenedStream:
    """The Router's stream, accepted and open; `frames` must be read to its end or closed."""

    def __init__(
        self, dispatch: Dispatch, answer: StreamedAnswer, opened: AsyncExitStack, max_frame_bytes: int
    ) -> None:
        self.dispatch = dispatch
        self.frames = self._relay(answer, opened, max_frame_bytes)
        self._last = b""

    def failure(self) -> tuple[ErrorCode, Reason | None] | None:
        """The error of the terminal, when that was relayed."""
        try:
            error = _ending(self._last[:-2].rpartition(b"\n\n")[2][6:]).error
        except msgspec.DecodeError:
            return None
        return None if error is None else (error.code, error.reason or None)

    async def _relay(
        self, answer: StreamedAnswer, opened: AsyncExitStack, max_frame_bytes: int
    ) -> AsyncGenerator[bytes, None]:
        """Ends early, without a terminal, when the connection fails or a frame is broken, which is not sent."""
        async with opened:
            reader = FrameReader(max_frame_bytes)
            try:
                async for piece in answer:
                    good, whole = _good_frames(reader, piece)
                    if good:
                        self._last = good
                        yield good
                    if not whole:
                        return
            except FAILURES:
                return


class Streams:
    def __init__(self, router: RouterClient, *, max_deadline_ms: int, max_frame_bytes: int) -> None:
        self._router = router
        self._guard_seconds = max_deadline_ms / 1000 + GUARD_SECONDS
        self._max_frame_bytes = max_frame_bytes

    async def open(self, body: bytes, dispatch: Dispatch, trace_headers: Headers = ()) -> OpenedStream | RouterAnswer:
        """An open stream, or the error that came instead of its first frame."""
        deadline = asyncio.get_running_loop().time() + self._guard_seconds
        try:
            async with AsyncExitStack() as opened:
                answer = await opened.enter_async_context(
                    await self._router.open_stream(
                        body, trace_headers, trace_id=dispatch.lineage.trace, deadline=deadline
                    )
                )
                seen = seen_by_router(HeaderMap(answer.headers), dispatch)
                if answer.status != 200:
                    return router_error(answer.status, await _collected(answer, seen), seen)
                if answer.headers_named(b"content-type") != [b"text/event-stream"] or not seen.correlated:
                    raise RouterFailed("not an accepted stream", seen)
                return OpenedStream(seen, answer, opened.pop_all(), self._max_frame_bytes)
        except FAILURES as failure:
            raise router_lost(failure, dispatch) from failure


async def _collected(answer: StreamedAnswer, dispatch: Dispatch) -> bytes:
    """The whole body of an error. If it breaks off or is too large, the error is still about this Invocation."""
    body = b""
    try:
        async for piece in answer:
            body += piece
            if len(body) > MAX_ERROR_BYTES:
                raise RouterFailed("larger than allowed", dispatch)
    except FAILURES as failure:
        raise router_lost(failure, dispatch) from failure
    return body


def _good_frames(reader: FrameReader, piece: bytes) -> tuple[bytes, bool]:
    """The events that end in this piece, up to the first broken one, and whether all were sound.

    The Router's comments go no further: the Gateway breaks the caller's silence itself, and one comment is enough.
    """
    lines = reader.whole_events(piece)
    if lines is not None and _all_json(lines, piece):
        return piece, True
    good: list[bytes] = []
    try:
        for frame in reader.feed(piece):
            if frame != COMMENT:
                _require_json(frame)
                good.append(frame)
    except (FramingBroken, EventTooLarge, msgspec.DecodeError, UnicodeDecodeError):
        return b"".join(good), False
    return good[0] if len(good) == 1 else b"".join(good), True


def _all_json(lines: Sequence[bytes], piece: bytes) -> bool:
    try:
        for line in lines:
            _syntax(line)
        if not piece.isascii():
            piece.decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _require_json(frame: bytes) -> None:
    _syntax(frame[6:-2])
    if not frame.isascii():
        frame.decode()  # the reading of the syntax does not look at the bytes of a string
