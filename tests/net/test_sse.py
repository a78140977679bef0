"""Server-sent events: what others send, and our own frames, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.net.sse import COMMENT, EventParser, EventTooLarge, FrameReader, FramingBroken, frame
from tests.net.readings import reads_events, reads_frames
from tests.net.sse_standard import by_the_standard
from tests.support.every import every

LIMIT = 1 << 20
LINE_ENDS = (b"\n", b"\r", b"\r\n")


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


def every_byte(data: bytes) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def events(pieces: list[bytes], limit: int = LIMIT) -> list[bytes]:
    parser = EventParser(limit)
    return [event for piece in pieces for event in parser.feed(piece)]


def frames(pieces: list[bytes], limit: int = LIMIT) -> tuple[list[bytes], type[Exception] | None]:
    """The frames that came, and the error that ended them."""
    reader = FrameReader(limit)
    seen: list[bytes] = []
    try:
        for piece in pieces:
            seen.extend(reader.feed(piece))  # what came before an error stays
        reader.end()
    except (FramingBroken, EventTooLarge) as error:
        return seen, type(error)
    return seen, None


def test_a_frame_is_one_data_line_and_an_empty_line() -> None:
    assert frame(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert COMMENT == b":\n\n"
    for text in (b"a\nb", b"a\rb"):
        with pytest.raises(ValueError, match="single line"):
            frame(text)


@every(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b"data:\ndata:\n\n", [b"\n"]),
        (b"event: x\nid: 1\nretry: 5\ndata: a\nunknown: y\n\n", [b"a"]),
        (b": comment\n\ndata: a\n: inside\n\n", [b"a"]),
        (b"event: x\n\ndata: a\n\n", [b"a"]),
        (b"\n\n\ndata: a\n\n\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"\xef\xbbdata: a\n\ndata: b\n\n", [b"b"]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
        (b"data: a\n", []),
        (b"data: a", []),
        (b"data: a\n\ndata: cut", [b"a"]),
        (b"", []),
    ],
)
@every("line_end", LINE_ENDS)
def test_a_standard_stream_is_read_by_the_standard(stream: bytes, expected: list[bytes], line_end: bytes) -> None:
    data = stream.replace(b"\n", line_end)
    assert by_the_standard(data) == expected
    assert events([data]) == expected
    assert events(every_byte(data)) == expected
    for place in range(len(data)):
        assert events([data[:place], data[place:]]) == expected


TOKENS = st.sampled_from(
    [b"data: ", b"data:", b"data", b"id: 1", b":", b": c", b"x", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf"]
)


@settings(max_examples=400)
@given(st.lists(TOKENS, max_size=40), st.lists(st.integers(min_value=0), max_size=10))
def test_any_stream_cut_anywhere_gives_what_the_standard_says(tokens: list[bytes], places: list[int]) -> None:
    data = b"".join(tokens)
    for pieces in (cut(data, places), every_byte(data)):
        assert reads_events(pieces, LIMIT)
        assert reads_frames(pieces) in {True, False}


@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=10))
def test_arbitrary_bytes_never_break_the_standard_parser(data: bytes, places: list[int]) -> None:
    assert reads_events(cut(data, places), LIMIT)


@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_an_event_over_its_limit_is_refused_whole_or_unfinished(line_end: bytes) -> None:
    fits = b"data: 12" + line_end * 2  # ten bytes, with each line end as one
    assert events([fits], 10) == [b"12"]
    for data in (fits, b"data: 1234567", b": long comment", b"no field at all"):
        for pieces in ([data], every_byte(data)):
            with pytest.raises(EventTooLarge):
                events(pieces, 9)


def test_events_before_one_over_the_limit_are_given_first() -> None:
    for pieces in ([b"data: a\n\ndata: far too long\n\n"], every_byte(b"data: a\n\ndata: far too long\n\n")):
        seen: list[bytes] = []
        with pytest.raises(EventTooLarge):
            collect(EventParser(12), pieces, seen)
        assert seen == [b"a"]


def collect(parser: EventParser, pieces: list[bytes], seen: list[bytes]) -> None:
    for piece in pieces:
        seen.extend(parser.feed(piece))


def test_a_large_event_in_small_pieces_is_read_in_linear_time() -> None:
    data = b"data: " + b"x" * 1_000_000 + b"\n\n"
    pieces = [data[index : index + 100] for index in range(0, len(data), 100)]
    assert events(pieces) == [b"x" * 1_000_000]
    assert frames(pieces) == ([data], None)


@given(
    st.lists(
        st.binary(max_size=50).filter(lambda line: b"\n" not in line and b"\r" not in line) | st.none(), max_size=8
    ),
    st.lists(st.integers(min_value=0), max_size=10),
)
def test_our_own_frames_come_out_as_they_went_in(lines: list[bytes | None], places: list[int]) -> None:
    sent = [COMMENT if line is None else frame(line) for line in lines]
    data = b"".join(sent)
    assert frames(cut(data, places)) == frames(every_byte(data)) == (sent, None)


@every(
    "bad",
    [
        b"data:a\n\n",
        b"data: a\ndata: b\n\n",
        b"data: a\r\n\r\n",
        b"data: a\rb\n\n",
        b": comment\n\n",
        b":\ndata: a\n\n",
        b":\r\n\r\n",
        b"event: x\n\n",
        b"id: 1\n\n",
        b"retry: 1\n\n",
        b"\n",
        b"\n\n",
        b"data: a\n\n\n",
        b"\xef\xbb\xbfdata: a\n\n",
        b"dat",
        b"data: a",
        b"data: a\n",
        b":",
        b":\n",
        b"dat\n\n",
        b"data\n\n",
    ],
)
def test_anything_but_our_own_framing_is_refused(bad: bytes) -> None:
    first = frame(b"first")
    for pieces in ([first + bad], every_byte(first + bad)):
        seen, error = frames(pieces)
        assert seen[0] == first
        assert error is FramingBroken


@settings(max_examples=400)
@given(st.lists(TOKENS, max_size=20), st.lists(st.integers(min_value=0), max_size=10), st.integers(8, 30))
def test_any_bytes_cut_anywhere_give_the_same_frames(tokens: list[bytes], places: list[int], limit: int) -> None:
    data = b"".join(tokens)
    whole, failure = frames([data], limit)
    for pieces in (cut(data, places), every_byte(data)):
        seen, error = frames(pieces, limit)
        assert seen == whole
        assert (error is None) == (failure is None)
    assert data.startswith(b"".join(whole))


def test_the_frame_limit_counts_from_data_to_the_second_line_feed() -> None:
    exact = frame(b"12345")
    assert frames([exact], len(exact)) == ([exact], None)
    for pieces in ([exact], every_byte(exact), [exact[:-2]]):
        assert frames(pieces, len(exact) - 1) == ([], EventTooLarge)


_PARTS = (
    b"data: ",
    b"data:",
    b"x",
    b"\n",
    b"\n\n",
    b"\r",
    COMMENT,
    b'data: {"b":2}\n\n',
    b"data: " + b"y" * 20 + b"\n\n",
)


@given(st.lists(st.sampled_from(_PARTS), max_size=8).map(b"".join), st.sampled_from((10, 16, 28, 1000)))
def test_a_piece_of_whole_events_is_what_reading_it_frame_by_frame_gives(piece: bytes, limit: int) -> None:
    lines, (seen, error) = FrameReader(limit).whole_events(piece), frames([piece], limit)
    if lines is None:
        assert error is not None or COMMENT in seen or not seen
    else:
        assert (error, b"".join(seen)) == (None, piece)
        assert [frame(line) for line in lines] == seen


def test_the_rest_of_an_event_that_was_cut_is_no_piece_of_whole_events() -> None:
    reader = FrameReader(LIMIT)
    assert list(reader.feed(b"data: a")) == []
    assert reader.whole_events(b"data: b\n\n") is None
