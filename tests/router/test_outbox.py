"""Frames that wait for a caller: taken together, paced, and dropped once nobody is there to take them."""

import asyncio

from aop.router.stream.outbox import FULL_BYTES, Outbox


async def test_what_waits_for_a_caller_who_left_is_dropped_and_makes_no_room() -> None:
    outbox = Outbox()
    assert not outbox.put(b"x" * FULL_BYTES)
    outbox.drop()
    assert not outbox.put(b"terminal"), "an Agent may not be read on for a caller who left"
    outbox.end()
    assert await outbox.take() == b"terminal"
    assert await outbox.take() is None


def an_outbox_that_writes() -> tuple[Outbox, list[bytes]]:
    """And what it writes, at once."""
    outbox, written = Outbox(), list[bytes]()

    def write_now(piece: bytes) -> bool:
        written.append(piece)
        return True

    outbox.write_by(write_now)
    return outbox, written


async def taking(outbox: Outbox) -> "asyncio.Task[bytes | None]":
    """A consumer who waits."""
    task = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    return task


async def test_frames_for_a_consumer_who_waits_are_written_together_without_waking_it() -> None:
    outbox, written = an_outbox_that_writes()
    consumer = await taking(outbox)
    assert outbox.put(b"one ")
    assert outbox.put(b"two")
    assert not written, "what one turn of the loop brings is one piece"
    await asyncio.sleep(0)
    assert written == [b"one two"]
    assert not consumer.done()
    outbox.put(b"terminal")
    outbox.end()
    assert await consumer == b"terminal", "a consumer who is woken anyway takes what is there"
    assert await outbox.take() is None
    assert written == [b"one two"]


async def test_frames_that_fill_the_outbox_are_written_at_once_and_leave_room() -> None:
    outbox, written = an_outbox_that_writes()
    consumer = await taking(outbox)
    assert outbox.put(b"x" * FULL_BYTES)
    assert written == [b"x" * FULL_BYTES]
    outbox.end()
    assert await consumer is None


async def test_frames_that_cannot_be_written_now_are_for_the_consumer_and_in_order() -> None:
    outbox, written, taken = Outbox(), list[bytes](), list[bytes]()

    def write_now(piece: bytes) -> bool:
        written.append(piece)
        return False

    async def consume() -> None:
        while (piece := await outbox.take()) is not None:
            taken.append(piece)
            await asyncio.sleep(0)

    outbox.write_by(write_now)
    consumer = asyncio.create_task(consume())
    await asyncio.sleep(0)
    for number in range(5):
        outbox.put(b"%d" % number)
        await asyncio.sleep(0)
    assert not outbox.put(b"x" * FULL_BYTES), "a producer whose frames are not taken has to wait"
    await outbox.room()
    outbox.write_by(None)
    outbox.put(b"last")
    outbox.end()
    await consumer
    assert b"".join(taken) == b"01234" + b"x" * FULL_BYTES + b"last"
