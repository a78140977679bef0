"""What the HTTP client reads at most: bodies, heads and the framing of chunks."""

import pytest

from aop.net.http.message import AnswerTooLarge
from aop.net.http.reader import MAX_HEAD_BYTES, MAX_HEADERS
from tests.net.client_reading import SIZED, chunked, cut, every_byte, read


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
