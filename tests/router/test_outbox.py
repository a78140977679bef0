"""Frames that wait for a caller: taken together, paced, and dropped once nobody is there to take them."""

from aop.router.stream.outbox import FULL_BYTES, Outbox


async def test_what_waits_for_a_caller_who_left_is_dropped_and_makes_no_room() -> None:
    outbox = Outbox()
    assert not outbox.put(b"x" * FULL_BYTES)
    outbox.drop()
    assert not outbox.put(b"terminal"), "an Agent may not be read on for a caller who left"
    outbox.end()
    assert await outbox.take() == b"terminal"
    assert await outbox.take() is None
