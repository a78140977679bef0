"""`traceparent` as W3C Trace Context defines it."""

import pytest

from aop.net.headers import TraceParent, read_traceparent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("value", "sampled"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-00", False),
        (f"00-{TRACE}-{SPAN}-03", True),
        (f"cc-{TRACE}-{SPAN}-01", True),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like", True),
    ],
)
def test_a_well_formed_value_names_trace_span_and_sampling(value: str, sampled: bool) -> None:
    assert read_traceparent(value.encode()) == TraceParent(TRACE, SPAN, sampled)


@pytest.mark.parametrize(
    "value",
    [
        "",
        TRACE,
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01.more",
        f" 00-{TRACE}-{SPAN}-01",
    ],
)
def test_anything_else_counts_as_absent(value: str) -> None:
    assert read_traceparent(value.encode()) is None


def test_what_is_written_is_read_back() -> None:
    for sampled in (True, False):
        parent = TraceParent(TRACE, SPAN, sampled)
        name, value = parent.header()
        assert (name, read_traceparent(value)) == (b"traceparent", parent)
