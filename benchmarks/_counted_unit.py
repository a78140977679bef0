"""`python -m benchmarks._counted_unit FD UNIT`: `aop UNIT` on a loop that counts when the socket FD says so.

The product has no part in this. What the counting itself calls is not counted.
"""

import json
import socket
import sys
from asyncio import TimerHandle
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeVarTuple

import uvloop

from agent_operating_platform import main as aop
from benchmarks._call_counter import BYTES, STATEMENTS, STORE_BYTES, TASKS, TIMERS, CallCounter

BEGIN, END, HOLD, RELEASE, REST = b"b", b"e", b"h", b"r", b"."
UNITS = {"gateway": "control-plane", "router": "router"}
Arguments = TypeVarTuple("Arguments")
_TURNS_TO_REST = 16
"""After its answer has left, a request ends in the next turns of the loop; it waits for nothing any more."""


def main() -> None:
    number, unit = sys.argv[1:]
    CountedLoop.control = socket.socket(fileno=int(number))
    CountedLoop.counter = CallCounter(unit)
    uvloop.Loop = CountedLoop  # type: ignore[misc]  # a class is a type there, and this is the place to change it
    sys.argv = ["aop", UNITS[unit]]
    sys.exit(aop())


class CountedLoop(uvloop.Loop):
    control: socket.socket
    counter: CallCounter

    def __init__(self) -> None:
        super().__init__()
        self._held: list[tuple[Any, ...]] | None = None
        self.add_reader(self.control, lambda: self._rest(self.control.recv(1), _TURNS_TO_REST))

    def _rest(self, command: bytes, turns: int) -> None:
        if turns:
            self.call_soon(self._rest, command, turns - 1)
            return
        if command == HOLD:
            self._held = []
        elif command == RELEASE:
            held, self._held = self._held or [], None
            for due in held:
                self.call_soon(self.counter.fire, *due)
        counts = self.counter.end() if command == END else None
        self.control.sendall(json.dumps(counts).encode() + b"\n")
        if command == BEGIN:
            self.counter.begin()

    def create_task(self, coro: Any, **how: Any) -> Any:
        self.counter.note(TASKS)
        return super().create_task(coro, **how)

    def call_later(
        self, delay: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> TimerHandle:
        self.counter.note(TIMERS)
        return super().call_later(delay, self._due, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> TimerHandle:
        return self.call_later(when - self.time(), callback, *args, context=context)

    def _due(self, callback: Callable[..., object], *args: object) -> None:
        if self._held is None:
            self.counter.fire(callback, *args)
        else:
            self._held.append((callback, *args))

    async def create_connection(self, protocol_factory: Any, *where: Any, **how: Any) -> Any:
        return _plain(await super().create_connection(self._counted(protocol_factory), *where, **how))

    async def create_unix_connection(self, protocol_factory: Any, *where: Any, **how: Any) -> Any:
        return _plain(await super().create_unix_connection(self._counted(protocol_factory), *where, **how))

    async def connect_accepted_socket(self, protocol_factory: Any, *where: Any, **how: Any) -> Any:
        return _plain(await super().connect_accepted_socket(self._counted(protocol_factory), *where, **how))

    def _counted(self, protocol_factory: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: _CountedProtocol(protocol_factory(), self.counter)


class _CountedProtocol:
    """A protocol whose transport counts. Whatever else the loop wants it gets from the protocol itself."""

    def __init__(self, protocol: Any, counter: CallCounter) -> None:
        self.protocol = protocol
        self.transport: _CountedTransport | None = None
        self._counter = counter

    def __getattr__(self, name: str) -> Any:
        return getattr(self.protocol, name)

    def connection_made(self, transport: Any) -> None:
        is_store = type(self.protocol).__module__.startswith("asyncpg")
        self.transport = _CountedTransport(transport, self._counter, is_store=is_store)
        self.protocol.connection_made(self.transport)


class _CountedTransport:
    def __init__(self, transport: Any, counter: CallCounter, *, is_store: bool) -> None:
        self._transport = transport
        self._counter = counter
        self._is_store = is_store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes | memoryview) -> None:
        self._counter.note(STORE_BYTES if self._is_store else BYTES, len(data))
        if self._is_store:
            self._counter.note(STATEMENTS, _statements(bytes(data)))
        self._transport.write(data)


def _plain(made: tuple[Any, _CountedProtocol]) -> tuple[Any, Any]:
    """What the caller of the loop asked for: its own protocol."""
    return made[1].transport, made[1].protocol


def _statements(messages: bytes) -> int:
    """How many PostgreSQL is asked to run: messages of the kinds Execute and Query."""
    at = count = 0
    while at + 5 <= len(messages):
        count += messages[at] in b"EQ"
        at += 1 + int.from_bytes(messages[at + 1 : at + 5])
    return count


if __name__ == "__main__":
    main()
