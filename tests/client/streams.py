"""Result streams of a scripted Gateway: whole ones, and what a client takes from them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aop.client import (
    Client,
    ResultStream,
    StreamInterrupted,
)
from aop.contracts.recovery import Situation, recoveries
from tests.client.gateway import (
    END,
    STREAM_HEAD,
    TRACE,
    ScriptedGateway,
    chunked,
    frame,
    scripted_gateway,
)
from tests.support.peers import Behaviour, Received

IDS = {"invocationId": "inv_" + "1" * 32, "rootTaskId": "task_" + "2" * 32, "traceId": TRACE}
TERMINALS = {"completed", "failed", "canceled", "timed_out"}


def event(sequence: int, kind: str, status: str, **more: Any) -> dict[str, Any]:
    return {"schemaVersion": "2", "sequence": sequence, "type": kind, "status": status, **IDS, **more}


ACCEPTED = event(0, "accepted", "pending")
CHUNKS = [event(n + 1, "chunk", "running", chunkIndex=n, chunk=value) for n, value in enumerate([{"a": 1}, None, "x"])]
COMPLETED = event(4, "completed", "succeeded")
WHOLE = [ACCEPTED, *CHUNKS, COMPLETED]


def a_stream(*steps: dict[str, Any] | bytes | asyncio.Event, end: bytes | None = END) -> Behaviour:
    """Events, bytes of the body as they are, or an event to wait for; without an end the connection stays open."""

    async def behave(request: Received) -> None:
        await request.send(STREAM_HEAD)
        for step in steps:
            if isinstance(step, asyncio.Event):
                await step.wait()
            else:
                await request.send(chunked(step if isinstance(step, bytes) else frame(step)))
        if end is None:
            await request.wait_for_leaving()
        else:
            await request.send(end)
            if not end:
                request.writer.close()

    return behave


@asynccontextmanager
async def opened(behave: Behaviour, **options: Any) -> AsyncIterator[tuple[ResultStream[Any], ScriptedGateway]]:
    async with scripted_gateway(behave) as gateway, Client(gateway.origin, "token", **options) as client:
        yield client.stream("demo", "acme:adder", "add", {"n": 1}), gateway


async def taken(stream: ResultStream[Any], into: list[Any]) -> None:
    async for chunk in stream:
        into.append(chunk)


async def interruption(behave: Behaviour, silence: float = 5.0, **options: Any) -> tuple[StreamInterrupted, list[Any]]:
    chunks: list[Any] = []
    async with opened(behave, **options) as (stream, _):
        stream.silence_seconds = silence
        with pytest.raises(StreamInterrupted) as raised:
            await taken(stream, chunks)
        with pytest.raises(StreamInterrupted):
            await anext(stream)
    assert raised.value.recovery == recoveries()[Situation.STREAM_INTERRUPTED]
    return raised.value, chunks
