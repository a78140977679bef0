"""A document that comes in pages is one document to whoever reads it with either client."""

import asyncio
import json

import pytest

from aop.base import assets
from aop.client import BrokenAnswer, Client, SyncClient
from tests.client.calling import TOKEN
from tests.client.gateway import TRACED, scripted_gateway
from tests.support.peers import JSON, Received

EXAMPLES = assets.folder("contracts") / "trace" / "2" / "examples" / "valid"
WHOLE = json.loads((EXAMPLES / "root-and-child.json").read_bytes())
SPACE, TRACE = "acme-travel", WHOLE["traceId"]


async def in_pages(request: Received) -> None:
    """The root, then the child."""
    root, child = WHOLE["invocations"]
    first = "cursor" not in request.target
    page = (
        {"traceId": TRACE, "invocations": [root], "nextCursor": "a-b"} if first else {**WHOLE, "invocations": [child]}
    )
    await request.answer(json.dumps(page).encode(), 200, JSON, TRACED)


async def without_end(request: Received) -> None:
    await request.answer(json.dumps({**WHOLE, "nextCursor": "again"}).encode(), 200, JSON, TRACED)


async def test_the_pages_of_a_large_trace_are_one_trace() -> None:
    path = f"/v1/workspaces/{SPACE}/traces/{TRACE}"
    async with scripted_gateway(in_pages) as gateway, Client(gateway.origin, TOKEN) as client:
        trace = await client.read_trace(SPACE, TRACE)
        assert [request.target for request in gateway.received] == [path, f"{path}?cursor=a-b"]
        with SyncClient(gateway.origin, TOKEN) as other:
            assert await asyncio.to_thread(other.read_trace, SPACE, TRACE) == trace
    assert [record.invocation_id for record in trace.invocations] == [
        record["invocationId"] for record in WHOLE["invocations"]
    ]
    assert not trace.next_cursor


async def test_pages_that_do_not_end_are_a_broken_answer() -> None:
    async with scripted_gateway(without_end) as gateway, Client(gateway.origin, TOKEN) as client:
        with pytest.raises(BrokenAnswer, match="its pages do not end"):
            await client.read_trace(SPACE, TRACE)
        assert len(gateway.received) == 101
