"""The fault proxy itself: each harm does what it says, and says that it was done."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from proof.fault_proxy import FaultProxy, Pace, fault_proxy
from tests.support.accepting import accepting

pytestmark = pytest.mark.second_ring


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while content := await reader.read(65536):
        writer.write(content)
        await writer.drain()


@asynccontextmanager
async def line() -> AsyncIterator[tuple[FaultProxy, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection through a proxy to an echo."""
    async with accepting(_echo) as port, fault_proxy(port) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        try:
            yield proxy, reader, writer
        finally:
            writer.transport.abort()


async def test_what_passes_is_counted_and_unchanged() -> None:
    async with line() as (proxy, reader, writer):
        writer.write(b"x" * 100_000)
        assert await reader.readexactly(100_000) == b"x" * 100_000
        assert (proxy.up, proxy.down, dict(proxy.hits)) == (100_000, 100_000, {})


@pytest.mark.parametrize(("way", "seen"), [("up", 3), ("down", 3)])
async def test_a_cut_lets_exactly_so_many_bytes_through(way: str, seen: int) -> None:
    async with line() as (proxy, reader, writer):
        proxy.cut("up" if way == "up" else "down", seen)
        writer.write(b"0123456789")
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(10)
        assert (proxy.hits["cut"], proxy.is_armed) == (1, False)


async def test_a_frozen_line_holds_everything_and_loses_nothing() -> None:
    async with line() as (proxy, reader, writer):
        proxy.freeze()
        writer.write(b"held")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await reader.read(1)
        proxy.thaw()
        assert await reader.readexactly(4) == b"held"
        assert proxy.hits["frozen"] >= 1


@pytest.mark.parametrize(
    ("pace", "content", "least"),
    [
        (Pace(delay=0.1), b"x", 0.2),
        (Pace(bytes_per_second=5000, slice_bytes=100), b"x" * 1000, 0.2),
        (Pace(slice_bytes=1), b"in single bytes", 0.0),
    ],
)
async def test_a_paced_line_delivers_everything_in_its_time(pace: Pace, content: bytes, least: float) -> None:
    async with line() as (proxy, reader, writer):
        proxy.pace = pace
        began = time.monotonic()
        writer.write(content)
        assert await reader.readexactly(len(content)) == content
        assert time.monotonic() - began >= least


async def test_a_closed_line_resets_what_is_open_and_refuses_what_is_new() -> None:
    async with line() as (proxy, reader, writer):
        writer.write(b"x")
        await reader.readexactly(1)
        proxy.close()
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        late, late_writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        with pytest.raises(ConnectionResetError):
            await late.readexactly(1)
        proxy.open()
        again, again_writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        again_writer.write(b"y")
        assert await again.readexactly(1) == b"y"
        for ended in (late_writer, again_writer):
            ended.transport.abort()
