"""Times and identifiers: one text form, strict reading, rising order."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop.base.clock import from_text, to_text
from aop.base.ids import hex_part, is_safe_identifier, is_trace_id, new_id, new_opening_id, new_trace_id


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_written_with_six_digits_and_read_back(moment: datetime) -> None:
    text = to_text(moment)
    assert len(text) == 27
    assert text.endswith("Z")
    assert from_text(text) == moment


def test_another_offset_is_written_as_utc() -> None:
    moment = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert to_text(moment) == "2026-02-28T23:30:00.000000Z"
    assert from_text("2026-03-01T01:30:00+02:00") == moment


@pytest.mark.parametrize(
    "text",
    [
        *("", "2026-03-01", "2026-03-01T01:30:00", "2026-03-01 01:30:00Z", "2026-03-01T01:30Z"),
        *("2026-03-01T01:30:00.1234567Z", "2026-13-01T01:30:00Z", "2026-03-01T01:30:00+0200", "٢026-03-01T01:30:00Z"),
    ],
)
def test_anything_but_rfc_3339_with_an_offset_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_text(text)


def test_ids_of_this_process_rise_and_do_not_repeat() -> None:
    made = [new_id("inv") for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(hex_part(item, "inv") for item in made[:10])
    assert hex_part(made[0], "task") is None


def test_an_opening_id_leaves_room_for_two_more() -> None:
    assert all(int(new_opening_id(), 16) % 4 == 0 for _ in range(100))


@pytest.mark.parametrize(
    ("text", "safe"),
    [("a", True), ("A.b_c:d-9", True), ("x" * 128, True), ("x" * 129, False), ("", False), ("-a", False), ("ä", False)],
)
def test_safe_identifiers(text: str, safe: bool) -> None:
    assert is_safe_identifier(text) is safe
    assert not is_safe_identifier(text + "\n")


def test_a_trace_id_is_never_all_zero() -> None:
    assert is_trace_id(new_trace_id())
    assert not is_trace_id("0" * 32)
    assert not is_trace_id("A" * 32)
