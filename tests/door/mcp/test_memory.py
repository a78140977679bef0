"""What a streamed call of a tool makes the door hold is counted: its chunks, and what its client is told of them."""

from typing import Any, cast

import pytest

from aop.contracts.errors import ErrorCode
from aop.door.faults import GatewayFault
from aop.door.gateway import ArrivingResult
from aop.door.mcp.calls import DoorMemory, StreamedCall

pytestmark = pytest.mark.second_ring


@pytest.mark.rows("SOUND-04")
def test_progress_on_its_way_is_counted_and_all_calls_together_have_a_limit() -> None:
    memory = DoorMemory(max_bytes=1_000_000)
    first, second = (StreamedCall(ArrivingResult(cast("Any", None)), memory, 1_000_000) for _ in range(2))
    with first.written(b"x" * 600_000):
        assert memory.taken == 600_000
        with pytest.raises(GatewayFault) as full:
            second.written(b"x" * 600_000)
        assert full.value.code is ErrorCode.AGENT_RESPONSE_TOO_LARGE
    assert memory.taken == 0
