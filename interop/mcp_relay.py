"""A relay before the door for a suite that knows neither tokens nor our names: it adds the one, puts in the other."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress


@asynccontextmanager
async def relay(listener: socket.socket, door_port: int, token: str, names: Mapping[str, str]) -> AsyncIterator[None]:
    """Everything else of a request, Host and Origin too, reaches the door as it was sent."""

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError), closing(writer):
            request = await _request(reader, token, names)
            upstream, sending = await asyncio.open_connection("127.0.0.1", door_port)
            with closing(sending):
                sending.write(request)
                while piece := await upstream.read(65536):
                    writer.write(piece)
                    await writer.drain()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    async with await asyncio.start_server(accept, sock=listener):
        yield
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, token: str, names: Mapping[str, str]) -> bytes:
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[:-2]
    headers = dict(line.lower().split(b": ", 1) for line in lines[1:] if b": " in line)
    body = await reader.readexactly(int(headers.get(b"content-length", b"0")))
    for name, real in names.items():
        body = body.replace(b'"%b"' % name.encode(), b'"%b"' % real.encode())
    # MCP 2026-07-28 says the name of a tool in the head as well, and both must agree.
    named = names.get(headers.get(b"mcp-name", b"").decode())
    lines = [b"mcp-name: " + named.encode() if named and _is(b"mcp-name", line) else line for line in lines]
    kept = [line for line in lines if not (_is(b"content-length", line) or _is(b"connection", line))]
    added = [b"authorization: Bearer %b" % token.encode(), b"connection: close", b"content-length: %d" % len(body)]
    return b"\r\n".join([*kept, *added, b"", b""]) + body


def _is(name: bytes, line: bytes) -> bool:
    return line.lower().startswith(name + b":")
