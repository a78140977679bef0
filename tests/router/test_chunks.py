"""The chunks of one stream, checked and delivered: whoever makes them waits for whoever takes them."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aop.base.clock import utc_now
from aop.cards.checks import SchemaChecks
from aop.cards.workers import SchemaWorkers
from aop.contracts.identity import Lineage
from aop.router.a2a.streaming import UNREAD
from aop.router.stream.chunks import CheckedChunks
from aop.router.stream.delivery import StreamDelivery
from aop.router.stream.frames import FrameWriter
from aop.router.stream.outbox import Outbox
from aop.router.stream.progress import ProgressKeeper
from tests.net.http_wire import until

LINEAGE = Lineage("inv_" + "1" * 32, "task_" + "1" * 32, "1" * 32)
TEXT = b'{"type":"string"}'


@pytest.mark.second_ring
@pytest.mark.parametrize("length", [20_000, 1 << 20])
async def test_a_chunk_that_finds_the_outbox_full_waits_until_the_caller_takes_what_is_there(length: int) -> None:
    """Also one that is so long that it is checked in a process. Else all that an Agent sends would be kept here."""
    workers = SchemaWorkers()
    checks = SchemaChecks(workers, max_work_ms=60_000, max_kept_bytes=1 << 20)
    outbox = Outbox()
    progress = ProgressKeeper(cast(Any, None), utc_now, cast(Any, None), lambda: None)
    stream = StreamDelivery(outbox, FrameWriter(LINEAGE, 8 << 20), progress)
    chunks = CheckedChunks(stream, checks, TEXT, await checks.prepared(TEXT), cast(Any, SimpleNamespace(chunks=0)))
    try:
        delivering = chunks.deliver([b'"%b"' % (b"x" * length)], [UNREAD])
        assert delivering is not None
        task = asyncio.ensure_future(delivering)
        taken = await outbox.take()
        assert taken is not None
        assert len(taken) > length
        await task
        waiting = asyncio.ensure_future(chunks.deliver([b'"%b"' % (b"x" * length)], [UNREAD]) or asyncio.sleep(0))
        await until(lambda: bool(outbox._frames))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await outbox.take()
        await waiting
    finally:
        if progress._due is not None:
            progress._due.cancel()
        await workers.close()
