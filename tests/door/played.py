"""A protocol as small as one can be, which tests play at the seam: bare JSON in, bare JSON or bare chunks out."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack

import msgspec

from aop.door.gateway import ArrivingResult
from aop.door.protocol import DoorParts, DoorRoute
from aop.door.request import DoorRequest
from aop.net.sse import frame
from aop.serving.edge.body import read_bytes
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import RouteAnswer
from aop.serving.edge.streaming import EventStream
from tests.support.loop import CAPABILITY

MAX_BYTES = 1_048_576


def played_routes(parts: DoorParts) -> Sequence[DoorRoute]:
    async def until_ending() -> AsyncGenerator[bytes, None]:
        await parts.ending.wait()
        yield frame(b"ending")

    async def watch(request: DoorRequest) -> RouteAnswer:
        await request.caller.workspace()
        return EventStream(until_ending())

    path = "/played/:workspaceId/:agentId"
    return [
        DoorRoute("POST", path, _invoke),
        DoorRoute("GET", path, _read),
        DoorRoute("GET", f"{path}/name", _name),
        DoorRoute("POST", f"{path}/stream", _stream),
        DoorRoute("GET", f"{path}/watch", watch, watches=True),
    ]


async def _read(request: DoorRequest) -> RouteAnswer:
    """What the caller may see: the Agents and their Skills, and the one of the path."""
    found = await request.caller.installed()
    assert await request.caller.agent(request.http.path["agentId"]) in found
    skills = {one.card.agent_id: [skill.id for skill in one.skills] for one in found}
    return Response(200, msgspec.json.encode(skills), (JSON,))


async def _name(request: DoorRequest) -> RouteAnswer:
    """What may be remembered for a moment."""
    found = await request.caller.agent(request.http.path["agentId"])
    return Response(200, msgspec.json.encode(found.card.name), (JSON,))


async def _invoke(request: DoorRequest) -> RouteAnswer:
    content = msgspec.Raw(await read_bytes(request.http, MAX_BYTES))
    result = await request.caller.invoke(request.http.path["agentId"], CAPABILITY, content)
    request.ran(result.trace_id, result.invocation_id)
    return Response(200, bytes(result.result), (JSON,))


async def _stream(request: DoorRequest) -> RouteAnswer:
    content = msgspec.Raw(await read_bytes(request.http, MAX_BYTES))
    async with AsyncExitStack() as opened:
        arriving = await opened.enter_async_context(
            request.caller.stream(request.http.path["agentId"], CAPABILITY, content)
        )
        request.ran(arriving.trace_id, arriving.invocation_id)
        return EventStream(_frames(arriving, opened.pop_all()))


async def _frames(arriving: ArrivingResult, opened: AsyncExitStack) -> AsyncGenerator[bytes, None]:
    async with opened:
        while events := await arriving.arrived():
            for event in events:
                yield frame(event.type.value.encode() if event.chunk is msgspec.UNSET else bytes(event.chunk))
