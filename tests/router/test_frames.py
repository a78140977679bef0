"""Frames of chunks that came together are those of each chunk on its own, whatever their numbers."""

import json

import pytest

from aop.contracts.identity import Lineage
from aop.router.stream.frames import FrameWriter

LINEAGE = Lineage(invocation="inv_1", root_task="task_1", trace="a" * 32)
VALUES = [b"1", b'{"text":"a"}', b"[1,\n2]", b'""']


@pytest.mark.rows("STR-07")
@pytest.mark.parametrize("earlier", [0, 1, 1017, 1018, 1019, 1020, 1021, 5000])
def test_chunks_that_came_together_have_the_frames_of_each_alone(earlier: int) -> None:
    together, alone = FrameWriter(LINEAGE, 1 << 20), FrameWriter(LINEAGE, 1 << 20)
    for writer in (together, alone):
        writer.accepted()
        for _ in range(earlier):
            writer.chunk(b"0")
    framed, size = together.several(VALUES)
    each = [alone.chunk(value) for value in VALUES]
    assert (framed, size) == (b"".join(frame for frame, _ in each), sum(size for _, size in each))
    events = [json.loads(line.removeprefix(b"data: ")) for line in framed.split(b"\n\n")[:-1]]
    assert [event["sequence"] for event in events] == [earlier + 1 + number for number in range(len(VALUES))]
    assert [event["chunkIndex"] for event in events] == [earlier + number for number in range(len(VALUES))]
    assert together.chunks == alone.chunks == earlier + len(VALUES)
