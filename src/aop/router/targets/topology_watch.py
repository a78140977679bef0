"""Keeps the topology fresh: subscribes to the Control Plane and reconnects after a loss. No other client reconnects."""

import asyncio
from contextlib import AsyncExitStack, suppress

import msgspec

from aop.base import json
from aop.base.settings import Secret
from aop.contracts.documents import document
from aop.contracts.topology import TopologyEvent
from aop.net.http import HttpError
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved
from aop.net.sse import COMMENT, EventTooLarge, FrameReader, FramingBroken
from aop.router.targets.topology import SILENCE_SECONDS, Topology, WatchBroken

FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
_FOREVER = 365 * 86_400.0
_MAX_FRAME_BYTES = 4 * 1024 * 1024
_PATH = "/internal/v1/topology/watch"
_LOSSES = (HttpError, NameNotResolved, WatchBroken, FramingBroken, EventTooLarge, TimeoutError)


class TopologyWatch:
    def __init__(self, peer: Peer, token: Secret, topology: Topology) -> None:
        self._peer = peer
        self._topology = topology
        self._headers = (
            (b"authorization", f"Bearer {token.reveal()}".encode("ascii")),
            (b"accept", b"text/event-stream"),
        )
        self._was_live = False
        self._pause = FIRST_PAUSE_SECONDS

    async def turn(self) -> None:
        """One subscription until it is lost, then a pause."""
        self._was_live = False
        try:
            with suppress(*_LOSSES):
                await self._follow()
        finally:
            self._topology.lost()  # also after a fault that nobody listed: a view that nobody renews is not live
        if self._was_live:
            self._pause = FIRST_PAUSE_SECONDS
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        after = self._topology.after
        path = _PATH if after is None else f"{_PATH}?after={after}"
        async with AsyncExitStack() as opened:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await opened.enter_async_context(
                    await self._peer.stream("GET", path, self._headers, deadline=loop.time() + _FOREVER)
                )
            if answer.status != 200 or answer.header(b"content-type") != b"text/event-stream":
                return
            self._topology.connected()
            frames, silent_at = FrameReader(_MAX_FRAME_BYTES), loop.time() + SILENCE_SECONDS
            while True:
                async with asyncio.timeout_at(silent_at):
                    piece = await anext(answer, None)
                if piece is None:
                    self._topology.handed_over()
                    return
                for frame in frames.feed(piece):
                    if frame != COMMENT:
                        self._topology.take(read_event(frame[6:-2]))
                        self._was_live = self._was_live or self._topology.live
                        silent_at = loop.time() + SILENCE_SECONDS


def read_event(content: bytes) -> TopologyEvent:
    """WatchBroken unless the content of a frame follows its document."""
    try:
        value = json.parse(content, json.UNIT_DEPTH)
    except json.JsonRefused as refused:
        raise WatchBroken(str(refused)) from None
    if not document("topology-event/1").is_valid(value):
        raise WatchBroken("a frame that breaks its document")
    try:
        return msgspec.convert(value, type=TopologyEvent)
    except msgspec.ValidationError:  # an integer written as 1.0, which a document cannot tell
        raise WatchBroken("a frame with a number we do not write") from None
