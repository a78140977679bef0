"""A unit that is told to end: still open to what a balancer sends, then closed to new work, then gone."""

import asyncio
import signal

import pytest

from aop.control_plane.gateway.tokens import issue_token
from aop.local.state import DatabaseUrls
from tests.support.waiting import PATIENCE_SECONDS, generous, patience
from tests.units.processes import environment, served, status_of


class KeptConnection:
    """A connection as a balancer keeps it: one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, origin: str) -> "KeptConnection":
        host, port = origin.removeprefix("http://").split(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def get(self, path: str, token: str = "none") -> tuple[int, bool]:  # noqa: S107
        """The status, and whether the answer says that the connection closes."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: unit\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        return await self.answer()

    def post(self, path: str, token: str, size: int) -> None:
        """Begins a request whose body of `size` bytes is still to come."""
        head = f"POST {path} HTTP/1.1\r\nHost: unit\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json"
        self.writer.write(f"{head}\r\nContent-Length: {size}\r\n\r\n".encode())

    async def answer(self) -> tuple[int, bool]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        await self._reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        return int(head.split()[1]), b"\r\nconnection: close\r\n" in head

    async def is_closed(self) -> bool:
        """Waits for it: nothing but the end may come."""
        return await self._reader.read() == b""


@pytest.mark.rows("HA-02", "OPS-11")
async def test_a_unit_told_to_end_serves_what_still_comes_and_then_refuses_while_running_work_ends(
    stores: DatabaseUrls,
) -> None:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    settings = environment(
        "control-plane",
        stores,
        PLATFORM_DRAIN_SECONDS=str(min(60, round(generous(0.4)))),
        PLATFORM_SHUTDOWN_GRACE_SECONDS=str(int(PATIENCE_SECONDS)),
    )
    async with served("control-plane", settings) as (process, origin), patience():
        connections = kept, idle, running, new = [await KeptConnection.to(origin) for _ in range(4)]
        try:
            assert await kept.get("/v1/workspaces", token) == (200, False)
            assert await idle.get("/v1/workspaces", token) == (200, False)
            process.send_signal(signal.SIGTERM)
            while await asyncio.to_thread(status_of, f"{origin}/readyz") != 503:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert await new.get("/readyz") == (503, True)
            # New work is served, and its connection ends with the answer.
            assert await kept.get("/v1/workspaces", token) == (200, True)
            assert await kept.is_closed()
            body = b'{"workspaceId": "made-in-the-drain"}'
            running.post("/v1/workspaces", token, len(body))
            assert await idle.is_closed()
            while await asyncio.to_thread(status_of, f"{origin}/v1/workspaces", token) == 200:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert await asyncio.to_thread(status_of, f"{origin}/v1/workspaces", token) == 503
            running.writer.write(body)
            assert await running.answer() == (201, True)
            await process.wait()
            assert process.returncode == 0
        finally:
            for connection in connections:
                connection.writer.close()
