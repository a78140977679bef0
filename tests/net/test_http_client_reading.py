"""The client's reading of answers, fed byte by byte and in every other way."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.net.http.message import AnswerTooLarge, HttpError, TransferBroken
from aop.net.http.reader import MAX_HEAD_BYTES, MAX_HEADERS, MAX_INTERIM_ANSWERS, AnswerReader

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
CHUNKED = chunked([b"he", b"llo"], extension=b";a=b", trailers=b"X-Sum: 1\r\n")
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + SIZED
NO_CONTENT = b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"
SELF_FRAMED = [SIZED, CHUNKED, INTERIM, NO_CONTENT]


@pytest.mark.parametrize("answer", SELF_FRAMED)
def test_an_answer_cut_at_every_byte_is_the_same_answer(answer: bytes) -> None:
    whole = read([answer])
    assert read(every_byte(answer)) == whole
    for place in range(1, len(answer)):
        assert read([answer[:place], answer[place:]]) == whole


@pytest.mark.parametrize("answer", SELF_FRAMED)
def test_an_answer_that_ends_early_at_any_byte_is_never_a_success(answer: bytes) -> None:
    for end in range(len(answer)):
        with pytest.raises(TransferBroken):
            read([answer[:end]], closes=True)


@given(
    st.lists(st.binary(max_size=300), max_size=8),
    st.lists(st.integers(min_value=0), max_size=12),
    st.binary(max_size=9),
)
def test_a_chunked_body_is_its_chunks_however_it_arrives(chunks: list[bytes], places: list[int], name: bytes) -> None:
    extension = b";" + name.hex().encode() if name else b""
    answer = chunked(chunks, extension=extension)
    assert read(cut(answer, places)).body == b"".join(chunks)


@given(st.binary(max_size=2000), st.lists(st.integers(min_value=0), max_size=12))
def test_a_sized_body_is_exactly_its_bytes_however_it_arrives(body: bytes, places: list[int]) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    outcome = read(cut(answer, places))
    assert outcome == Outcome(200, ((b"content-length", b"%d" % len(body)),), body, keep_alive=True)


@settings(max_examples=300)
@given(
    st.binary(max_size=200),
    st.sampled_from(SELF_FRAMED),
    st.integers(min_value=0),
    st.integers(min_value=0, max_value=255),
)
def test_bytes_that_are_not_http_end_in_a_typed_error_or_a_complete_answer(
    noise: bytes, answer: bytes, place: int, byte: int
) -> None:
    place %= len(answer)
    damaged = answer[:place] + bytes([byte]) + answer[place + 1 :]
    for data in (noise, damaged, answer[:place] + noise):
        outcomes: list[bytes | None] = []
        for pieces in ([data], every_byte(data)):
            try:
                outcomes.append(read(pieces, closes=True).body)
            except HttpError:
                outcomes.append(None)
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "chunks",
    [
        b"-3\r\nabc\r\n0\r\n\r\n",
        b"+3\r\nabc\r\n0\r\n\r\n",
        b"0x3\r\nabc\r\n0\r\n\r\n",
        b"3 \r\nabc\r\n0\r\n\r\n",
        b" 3\r\nabc\r\n0\r\n\r\n",
        b"3\r\nabcd\r\n0\r\n\r\n",
        b"3\r\nabc0\r\n\r\n",
        b"3\nabc\n0\n\n",
        b"\r\nabc\r\n0\r\n\r\n",
        b"g\r\nabc\r\n0\r\n\r\n",
        b"ffffffffffffffffff\r\n",
        b"3;\x00\r\nabc\r\n0\r\n\r\n",
        b"3\r\nabc\r\n0\r\nno colon\r\n\r\n",
    ],
)
def test_a_malformed_chunk_breaks_the_transfer(chunks: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for pieces in ([head + chunks], every_byte(head + chunks)):
        with pytest.raises(TransferBroken):
            read(pieces, closes=True)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: b\r\n c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0, 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\x00c\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"\x16\x03\x01\x02\x00",
        b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_INTERIM_ANSWERS + 1) + NO_CONTENT,
    ],
)
def test_a_head_that_is_malformed_or_ambiguous_breaks_the_transfer(head: bytes) -> None:
    for pieces in ([head], every_byte(head)):
        with pytest.raises(TransferBroken):
            read(pieces, closes=True)


def test_repeated_headers_keep_their_order_under_lowercase_names() -> None:
    assert read([SIZED]).headers == (
        (b"content-type", b"text/plain"),
        (b"content-length", b"5"),
        (b"x-a", b"1"),
        (b"x-a", b"2"),
    )


def test_a_trailer_is_not_a_header() -> None:
    assert read([CHUNKED]).headers == ((b"transfer-encoding", b"chunked"),)


def test_an_answer_to_head_ends_with_its_head() -> None:
    outcome = read([b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"], method="HEAD", max_body=1)
    assert (outcome.status, outcome.body, outcome.keep_alive) == (200, b"", True)


def test_a_body_after_an_answer_to_head_spoils_the_connection() -> None:
    assert not read([SIZED], method="HEAD").keep_alive


def test_the_answer_after_one_to_head_is_read_from_its_start() -> None:
    reader = AnswerReader()
    reader.begin("HEAD", LIMIT)
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    reader.begin("GET", LIMIT)
    reader.feed(SIZED)
    assert reader.complete
    assert reader.take() == b"hello"


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_a_status_without_a_body_ends_with_its_head(status: bytes) -> None:
    outcome = read([b"HTTP/1.1 " + status + b"\r\nContent-Length: 99999999\r\n\r\n"], max_body=1)
    assert (outcome.body, outcome.keep_alive) == (b"", True)


def test_a_body_that_lasts_until_the_close_is_complete_only_then() -> None:
    answer = b"HTTP/1.1 200 OK\r\n\r\nhello"
    reader = AnswerReader()
    reader.begin("GET", LIMIT)
    reader.feed(answer)
    assert not reader.complete
    assert read([answer], closes=True) == Outcome(200, (), b"hello", keep_alive=False)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        SIZED + b"HTTP/1.1 200 OK\r\n",
        SIZED + b"x",
        NO_CONTENT + b"hello",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\nmore",
    ],
)
def test_an_answer_that_spoils_its_connection_is_still_an_answer(answer: bytes) -> None:
    for pieces in ([answer], every_byte(answer)):
        assert not read(pieces).keep_alive


def test_http_1_0_with_keep_alive_keeps_the_connection() -> None:
    assert read([b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"]).keep_alive


def test_a_declared_length_over_the_limit_is_refused_before_the_body() -> None:
    with pytest.raises(AnswerTooLarge):
        read([b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"], max_body=5)
    assert read([SIZED], max_body=5).body == b"hello"


@pytest.mark.parametrize("answer", [chunked([b"abc", b"def"]), b"HTTP/1.1 200 OK\r\n\r\nabcdef"])
def test_an_undeclared_body_over_the_limit_is_refused_when_it_passes_it(answer: bytes) -> None:
    for pieces in ([answer], every_byte(answer)):
        with pytest.raises(AnswerTooLarge):
            read(pieces, max_body=5, closes=True)
        assert read(pieces, max_body=6, closes=True).body == b"abcdef"


def head_of(size: int) -> bytes:
    fixed = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \r\n\r\n"
    return fixed.replace(b"X: ", b"X: " + b"a" * (size - len(fixed)))


def test_a_head_has_at_most_32_kib_and_100_headers() -> None:
    assert read([head_of(MAX_HEAD_BYTES)]).status == 200
    for pieces in ([head_of(MAX_HEAD_BYTES + 200)], cut(head_of(MAX_HEAD_BYTES + 200), [9000, 18000, 32000])):
        with pytest.raises(AnswerTooLarge):
            read(pieces)
    for count, fits in ((MAX_HEADERS, True), (MAX_HEADERS + 1, False)):
        answer = b"HTTP/1.1 204 No Content\r\n" + b"A: b\r\n" * count + b"\r\n"
        if fits:
            assert len(read([answer]).headers) == count
        else:
            with pytest.raises(AnswerTooLarge):
                read([answer])


def test_a_large_body_that_comes_with_its_head_does_not_count_as_head() -> None:
    body = b"x" * (4 * MAX_HEAD_BYTES)
    assert read([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)]).body == body


@pytest.mark.parametrize("filler", [b"1;" + b"x" * 4000 + b"\r\na\r\n", b"0\r\n" + b"A: b\r\n" * 1000])
def test_chunk_framing_without_content_is_bounded(filler: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    endless = [filler] * 40 if filler.startswith(b"1") else [filler, *[b"A: b\r\n" * 1000] * 40]
    with pytest.raises(AnswerTooLarge):
        read([head, *endless])


def test_the_smallest_chunks_are_within_the_bound() -> None:
    assert read([chunked([b"a"] * 60_000)]).body == b"a" * 60_000
