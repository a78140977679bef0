"""The watch over the list of tools of `aop mcp` goes on after a Gateway that was away when it began."""

import pytest

from aop.base.loops import Loops
from aop.base.settings import Secret
from aop.door.bearers import Bearer
from aop.door.gateway import Gateway
from aop.door.mcp.stdio import StdioServer
from tests.client.gateway import an_error, saying, scripted_gateway
from tests.support.agent import chosen
from tests.support.peers import Behaviour, Received
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring


async def test_a_gateway_that_is_away_when_the_watch_begins_is_asked_again() -> None:
    asked = list[Received]()

    def answer(request: Received) -> Behaviour:
        asked.append(request)
        return an_error("DEPENDENCY_ERROR", 503) if len(asked) == 1 else saying({"items": []})

    async def write(line: bytes) -> None:
        raise AssertionError(line)

    async with scripted_gateway(chosen(answer)) as scripted:
        gateway, loops = Gateway(scripted.origin, 65_536), Loops(lambda _: lambda _: None)
        loops.start("tools", StdioServer(gateway.caller(Bearer(Secret("t")), "demo"), 65_536, write, 0.01).watch)

        async def is_asked_again() -> bool:
            return len(asked) >= 3

        try:
            await becomes_true(is_asked_again)
        finally:
            await loops.close()
            await gateway.close()
