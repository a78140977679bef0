"""Reads for a client connection into a buffer that is not its own."""

import asyncio

from aop.net.http.connection import Connection


class InPieces(asyncio.BufferedProtocol):
    """Reads for a connection into a buffer that all of its loop share, at most that much at a time.

    A transport would otherwise read a quarter of a megabyte at once, which a stalled reader then keeps. Not for TLS:
    there, what is left behind a piece is dropped when the peer closes.
    """

    __slots__ = ("_buffer", "_connection")

    def __init__(self, connection: Connection, buffer: memoryview) -> None:
        self._connection = connection
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection.connection_made(transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._connection.data_received(self._buffer[:nbytes])

    def eof_received(self) -> None:
        self._connection.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.connection_lost(exc)
