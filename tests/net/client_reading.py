"""Answers as bytes, and what the HTTP client makes of them, fed in pieces."""

from dataclasses import dataclass
from itertools import pairwise

from aop.net.http.reader import AnswerReader

LIMIT = 1 << 20


@dataclass(frozen=True)
class Outcome:
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    keep_alive: bool


def read(pieces: list[bytes], *, method: str = "POST", max_body: int = LIMIT, closes: bool = False) -> Outcome:
    """The answer, or the HttpError; an answer that is not complete is a TransferBroken."""
    reader = AnswerReader()
    reader.begin(method, max_body)
    for piece in pieces:
        reader.feed(piece)
    if closes or not reader.complete:
        reader.end()
    return Outcome(reader.status, reader.headers, reader.take(), reader.keep_alive and not reader.excess)


def every_byte(data: bytes) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


def chunked(chunks: list[bytes], *, extension: bytes = b"", trailers: bytes = b"") -> bytes:
    body = b"".join(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks if chunk)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n" + trailers + b"\r\n"


SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain \r\nContent-Length: 5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello"
