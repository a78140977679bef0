"""Messages on a pipe or a pair of sockets between two processes: each has its length in front of it."""

from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:  # a process that reads a pipe needs no event loop
    from asyncio import StreamReader

_LENGTH_BYTES: Final = 4


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(_LENGTH_BYTES) + text


async def read_frame(reader: "StreamReader") -> bytes:
    """IncompleteReadError when the other end was closed."""
    length = await reader.readexactly(_LENGTH_BYTES)
    return await reader.readexactly(int.from_bytes(length))


def wait_for_frame(pipe: BinaryIO) -> bytes:
    """Empty once the other end is closed: no message is."""
    return pipe.read(int.from_bytes(pipe.read(_LENGTH_BYTES)))
