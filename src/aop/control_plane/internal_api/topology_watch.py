"""`GET /internal/v1/topology/watch`: snapshot, changes and heartbeats, resumable behind a known revision."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec

from aop.contracts.errors import Envelope, Overloaded
from aop.contracts.topology import FrameKind, TopologyEvent
from aop.control_plane.registry.changes import Changes, ChangeSignal
from aop.net.sse import frame
from aop.serving.admission import Slots
from aop.serving.bearer import ServicePrincipals
from aop.serving.request import Request
from aop.serving.routing import Route, RouteAnswer, Spanned
from aop.serving.streaming import EventStream

HEARTBEAT_SECONDS = 4.0
LOOK_SECONDS = 1.0
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)
_encode = msgspec.json.Encoder().encode


def topology_watch_routes(
    changes: Changes, signal: ChangeSignal, principals: ServicePrincipals, snapshots: Slots
) -> Sequence[Route]:
    """A snapshot holds one of its slots and with it a connection of the store, for as long as its reader takes."""

    async def watch(request: Request) -> RouteAnswer:
        current = await changes.revision()
        after: int | None = request.query.get("after")
        known = after if after is not None and after <= current else None
        frames = _frames(changes, signal, snapshots, known)
        # Read before the answer begins: what fails until then is an error with its own code, not a stream cut short.
        first = await anext(frames, None)
        if first is None:
            raise Overloaded("draining")
        return EventStream(_led_by(first, frames))

    # No slot of the calls: a watch lives as long as its Router and would only eat up their room.
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
            await _set_or_passed(changed, min(left, LOOK_SECONDS))


async def _led_by(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


async def _set_or_passed(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _framed(event: TopologyEvent) -> bytes:
    return frame(_encode(event))


def _revision(text: str) -> int:
    if _DIGITS.fullmatch(text) is None:
        raise ValueError("not a revision")
    return int(text)
