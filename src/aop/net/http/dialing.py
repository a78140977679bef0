"""Opening of connections: to the judged address only, with the TLS name checked, within its time."""

import asyncio
import ssl
from collections.abc import Callable

import certifi

from aop.net.http.connection import READ_BUFFER_BYTES, Connection, InPieces
from aop.net.http.errors import ConnectFailed, DeadlinePassed, Phase
from aop.net.http.message import Target
from aop.net.sockets import dialing_socket


def certified_context() -> ssl.SSLContext:
    """Verifies chain and name against the certifi roots."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class Dialer:
    """Opens connections of one loop; the default TLS context is read from disk at the first https target."""

    def __init__(self, tls: ssl.SSLContext | None, connect_seconds: float) -> None:
        self._buffer = memoryview(bytearray(READ_BUFFER_BYTES))
        self._tls = tls
        self._connect_seconds = connect_seconds

    async def dial(self, target: Target, deadline: float, lost: Callable[[Connection], None]) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(target, loop, lost)
        phase: Phase = "connect"
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + self._connect_seconds)):
                sock = dialing_socket(target.address)
                try:
                    await loop.sock_connect(sock, (target.address, target.port))
                except BaseException:
                    sock.close()
                    raise
                if target.scheme == "http":
                    await loop.create_connection(lambda: InPieces(connection, self._buffer), sock=sock)
                else:
                    phase = "tls"
                    await loop.create_connection(
                        lambda: connection, sock=sock, ssl=self._context(), server_hostname=target.host
                    )
        except (OSError, ValueError) as error:  # ValueError: a host that cannot be a TLS name
            if isinstance(error, TimeoutError) and loop.time() >= deadline:
                raise DeadlinePassed("the deadline came before the connection") from error
            raise ConnectFailed(phase, type(error).__name__) from error
        return connection

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = certified_context()
        return self._tls
