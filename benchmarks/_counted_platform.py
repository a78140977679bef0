"""Gateway and Router as `aop` starts them, each of which counts what it runs for the calls that are sent to it."""

import asyncio
import json
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from aop.net.http import HttpClient
from benchmarks._calls import Call, Calls, many
from benchmarks._counted_unit import BEGIN, END, HOLD, RELEASE, REST
from benchmarks._stream_platform import install
from benchmarks._system_calls import SystemCalls
from benchmarks._units import empty_surroundings, ready, started

GATEWAY, ROUTER = "gateway", "router"
_HELD_FOR_CALLS = 5
"""Timers of the units wait for so long at most: their watches must not take each other for dead."""
_STEADY_AFTER_CALLS = 60

Counts = Mapping[str, Any]
"""What a unit counted: `calls` and `others`, as `CallCounter.end` gives them."""


@dataclass(frozen=True)
class CountedUnit:
    name: str
    pid: int
    socket: socket.socket

    async def ask(self, what: bytes) -> Any:
        """The unit answers when what the calls of before left to do is done."""
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self.socket, what)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = await loop.sock_recv(self.socket, 1 << 16)
            if not piece:
                raise ConnectionResetError(f"the {self.name} has ended")
            answer += piece
        return json.loads(answer)


class CountedPlatform:
    def __init__(self, units: Sequence[CountedUnit], call: Call) -> None:
        self.units = units
        self._call = call

    async def each_call(self, count: int) -> AsyncIterator[Mapping[str, Counts]]:
        """Of that many calls, one after the other, what each unit ran for it."""
        async for _ in self._lone(count):
            await self._ask_all(BEGIN)
            await self._call()
            yield await self._ask_all(END)

    async def system_calls(self, count: int) -> AsyncIterator[Mapping[str, Mapping[str, int]]]:
        """Likewise. Raises NotPermitted."""
        with ExitStack() as held:
            traced = {unit.name: held.enter_context(SystemCalls(unit.pid)) for unit in self.units}

            async def until_rest(call: Call) -> dict[str, Counter[str]]:
                await self._ask_all(REST)
                for one in traced.values():
                    one.begin()
                await call()
                await self._ask_all(REST)
                return {name: one.end() for name, one in traced.items()}

            async for _ in self._lone(count):
                asked, called = await until_rest(_nothing), await until_rest(self._call)
                yield {name: called[name] - asked[name] for name in traced}

    async def together(self, callers: int, count: int) -> Mapping[str, Counts]:
        await many(self._call, callers, callers * 4)
        await self._ask_all(BEGIN)
        await many(self._call, callers, count)
        return await self._ask_all(END)

    async def _lone(self, count: int) -> AsyncIterator[None]:
        """Before each of them is one that nobody counts: what is done anew each second, or for a connection, is done
        then. No timer is due meanwhile, so that the background rests."""
        for number in range(count):
            if number % _HELD_FOR_CALLS == 0:
                await self._ask_all(RELEASE)
                await self._ask_all(HOLD)
            await self._call()
            yield
        await self._ask_all(RELEASE)

    async def _ask_all(self, what: bytes) -> dict[str, Any]:
        return {unit.name: await unit.ask(what) for unit in self.units}


async def _nothing() -> None:
    """What it takes to be asked for rest is no part of a call."""


@asynccontextmanager
async def counted_platform() -> AsyncIterator[CountedPlatform]:
    """In the steady state."""
    async with empty_surroundings() as around:
        with (
            _counted(GATEWAY, around.control_plane) as gateway,
            _counted(ROUTER, around.router) as router,
        ):
            await ready(around)
            platform = replace(around.platform, gateway_pid=gateway.pid, router_pid=router.pid)
            await install(platform)
            client = HttpClient(idle_seconds=60, connect_seconds=5)
            call = Calls(platform, client).managed
            await many(call, 1, _STEADY_AFTER_CALLS)
            yield CountedPlatform((gateway, router), call)
            await client.close()


@contextmanager
def _counted(name: str, settings: Mapping[str, str]) -> Iterator[CountedUnit]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        descriptor = theirs.fileno()
        command = [sys.executable, "-P", "-m", "benchmarks._counted_unit", str(descriptor), name]
        ours.setblocking(False)
        with started(command, settings, (descriptor,)) as process:
            theirs.close()
            yield CountedUnit(name, process.pid, ours)
