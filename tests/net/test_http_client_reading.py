"""The client's reading of answers, fed byte by byte and in every other way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.net.http.message import HttpError, TransferBroken
from aop.net.http.reader import MAX_INTERIM_ANSWERS, AnswerReader
from tests.net.client_reading import LIMIT, SIZED, Outcome, chunked, cut, every_byte, read
from tests.support.every import every

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


@every(
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


@every(
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
