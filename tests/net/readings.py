"""What holds of the readers of streams, addresses and headers whatever they read; each says if that was accepted."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from aop.contracts.documents import document
from aop.net.accept import allows_event_stream, allows_json
from aop.net.origin import Endpoint, InvalidEndpoint, parse_origin
from aop.net.sse import EventParser, EventTooLarge, FrameReader, FramingBroken
from tests.net.accept_standard import acceptable
from tests.net.sse_standard import by_the_standard

CARD_ENDPOINT = document("agent-card/0.2#endpoint")
_PLAIN = frozenset(map(chr, range(128))) - {"%"}
_FRAME = re.compile(rb"(?:data: [^\r\n]*|:)\n\n")


def reads_events(pieces: Sequence[bytes], limit: int) -> bool:
    """Of others: as the standard says, or those before one that is too large."""
    data, parser, events, whole = b"".join(pieces), EventParser(limit), list[bytes](), True
    try:
        for piece in pieces:
            events.extend(parser.feed(piece))
    except EventTooLarge:
        whole = False
    expected = by_the_standard(data)
    assert events == (expected if whole else expected[: len(events)])
    assert whole or limit < len(data), "refused as too large"
    return whole


def reads_frames(pieces: Sequence[bytes]) -> bool:
    """Of our own: each that has our form, up to the first bytes that have not."""
    data, reader, frames, whole = b"".join(pieces), FrameReader(1 << 20), list[bytes](), True
    try:
        for piece in pieces:
            frames.extend(reader.feed(piece))
        reader.end()
    except FramingBroken:
        whole = False
    end, expected = 0, list[bytes]()
    while (match := _FRAME.match(data, end)) is not None:
        expected.append(match[0])
        end = match.end()
    assert frames == expected
    assert whole == (end == len(data)), "the end of the stream"
    return whole


def reads_endpoint(text: str) -> bool:
    """What is accepted is canonical for good, and the standard library reads the same from it."""
    try:
        endpoint = Endpoint.parse(text)
    except InvalidEndpoint:
        return False
    assert CARD_ENDPOINT.is_valid(text), "a Binding takes what a Card does not"
    assert Endpoint.parse(endpoint.canonical) == endpoint, "not canonical for good"
    assert parse_origin(endpoint.origin).origin == endpoint.origin, "its origin is not one"
    seen = urlsplit(text)
    port = seen.port or {"http": 80, "https": 443}[seen.scheme]
    assert (seen.username, seen.query, seen.fragment) == (None, "", ""), "more than an endpoint"
    assert (seen.scheme, port, seen.path or "/") == (endpoint.scheme, endpoint.port, endpoint.path), "read otherwise"
    host = (seen.hostname or "").removesuffix(".")
    assert ":" in endpoint.host or host == endpoint.host, "another host"
    assert set(endpoint.canonical) <= _PLAIN, "not plain ASCII"
    return True


def reads_accept(values: Sequence[bytes]) -> bool:
    readings = allows_json(values), allows_event_stream(values)
    assert readings == acceptable(values)
    return any(readings)
