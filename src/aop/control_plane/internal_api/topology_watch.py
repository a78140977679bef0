"""`GET /internal/v1/topology/watch`: snapshot, changes and heartbeats; a Router can resume after a revision."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

import msgspec

from aop.contracts.errors import Envelope, Overloaded
from aop.contracts.topology import FrameKind, TopologyEvent
from aop.control_plane.registry.changes import Changes, ChangeSignal
from aop.net.sse import frame
from aop.serving.edge.admission import Slots
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.request import Request
from aop.serving.edge.routing import Route, RouteAnswer, Spanned
from aop.serving.edge.streaming import EventStream

HEARTBEAT_SECONDS = 4.0
POLL_SECONDS = 1.0
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)
_encode = msgspec.json.Encoder().encode


def topology_watch_routes(
    changes: Changes, signal: ChangeSignal, principals: ServicePrincipals, snapshots: Slots
) -> Sequence[Route]:
    """A snapshot holds a slot and a connection to the store for as long as its reader takes."""

    async def watch(request: Request) -> RouteAnswer:
        current = await changes.revision()
        after: int | None = request.query.get("after")
        resumed = after if after is not None and after <= current else None
        frames = _frames(changes, signal, snapshots, resumed)
        # Read before the answer begins: a failure until then is an error with its own code, not a truncated stream.
        first = await anext(frames, None)
        if first is None:
            raise Overloaded("draining")
        return EventStream(_with_first(first, frames))

    # Takes no slot of the requests: a watch lasts as long as its Router and would hold the slot all the time.
    return [
        Route(
            "GET",
            "/internal/v1/topology/watch",
            watch,
            Envelope.INVOCATION,
            principals.authenticate,
            query={"after": _revision},
            head=False,
            spanned=Spanned.NOT,
        )
    ]


async def _frames(
    changes: Changes, signal: ChangeSignal, snapshots: Slots, after: int | None
) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    revision, heartbeat_at = after or 0, loop.time()
    if after is None and not signal.ended:
        with snapshots.hold():
            async with aclosing(changes.snapshot()) as snapshot:
                async for event in snapshot:
                    revision = event.revision
                    yield _framed(event)
        heartbeat_at = loop.time() + HEARTBEAT_SECONDS
    while not signal.ended:
        changed = signal.next()
        events = await changes.after(revision)
        for event in events:
            revision = event.revision
            yield _framed(event)
        left = heartbeat_at - loop.time()
        if left <= 0:
            heartbeat_at = loop.time() + HEARTBEAT_SECONDS
            yield _framed(TopologyEvent(schema_version="1", kind=FrameKind.HEARTBEAT, revision=revision))
        elif not events:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, POLL_SECONDS)):
                    await changed.wait()


async def _with_first(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


def _framed(event: TopologyEvent) -> bytes:
    return frame(_encode(event))


def _revision(text: str) -> int:
    if _DIGITS.fullmatch(text) is None:
        raise ValueError("not a revision")
    return int(text)
