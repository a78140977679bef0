"""What is to happen when a named point in a unit under test is passed, and the remote control of that."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

SLOW_SECONDS = 0.25


class Action(StrEnum):
    KILL = "kill"
    HANG = "hang"
    SLOW = "slow"
    RAISE = "raise"
    DO_THEN_RAISE = "do-then-raise"
    HOLD = "hold"
    """Waits until it is released."""


class Provoked(ConnectionResetError):
    """Raised where a point is to raise: what a broken connection raises too."""


@dataclass(frozen=True)
class Armed:
    point: str
    action: Action
    at: int = 1
    """The how-manieth passing from now on."""

    @classmethod
    def read(cls, text: str) -> "Armed":
        """`POINT=ACTION` or `POINT=ACTION@N`."""
        point, _, rest = text.partition("=")
        action, _, number = rest.partition("@")
        return cls(point, Action(action), int(number or 1))


@dataclass
class Switchboard:
    """At most one point is armed; it acts once."""

    armed: Armed | None = None
    passings: list[str] = field(default_factory=list)
    """What was passed since the last arming, in order."""
    _hit: asyncio.Event = field(default_factory=asyncio.Event)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    def arm(self, armed: Armed | None) -> None:
        self.armed = armed
        self.passings.clear()
        self._hit.clear()
        self._released.clear()

    def due(self, point: str) -> Action | None:
        """What to do at this passing; a kill is done at once."""
        self.passings.append(point)
        armed = self.armed
        if armed is None or armed.point != point or armed.at != self.passings.count(point):
            return None
        self.armed = None
        self._hit.set()
        # Written at once and by one call, so that it is there even if the next thing is the end.
        os.write(sys.stderr.fileno(), f"failpoint {armed.point} {armed.action}\n".encode())
        if armed.action is Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        return armed.action

    async def pause(self, action: Action | None) -> None:
        """As long as the action says."""
        if action is Action.SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        elif action is Action.HOLD:
            await self._released.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One command a connection: a line of JSON each way."""
        with suppress(OSError):
            answer = await self._obey(json.loads(await reader.readline()))
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def _obey(self, command: dict[str, Any]) -> Any:
        if "arm" in command:
            self.arm(None if command["arm"] is None else Armed.read(command["arm"]))
        elif command.get("await") == "hit":
            await self._hit.wait()
        elif command.get("release"):
            self._released.set()
        return {"passings": self.passings, "hit": self._hit.is_set()}


@dataclass(frozen=True)
class Remote:
    """Of one unit that was started by `proof.failpoints`."""

    socket: Path
    log: Path

    async def arm(self, armed: Armed | None) -> None:
        text = None if armed is None else f"{armed.point}={armed.action}@{armed.at}"
        await self._ask({"arm": text})

    async def hit(self, seconds: float = 10.0) -> None:
        """Waits until the armed point was passed."""
        async with asyncio.timeout(seconds):
            await self._ask({"await": "hit"})

    async def release(self) -> None:
        await self._ask({"release": True})

    async def passings(self) -> list[str]:
        """What was passed since the last arming."""
        return list((await self._ask({}))["passings"])

    def hits(self) -> list[str]:
        """Every point that acted, also in processes that did not survive it."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line.removeprefix("failpoint ") for line in lines if line.startswith("failpoint ")]

    async def _ask(self, command: dict[str, Any]) -> Any:
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            writer.write(json.dumps(command).encode() + b"\n")
            return json.loads(await reader.readline())
        finally:
            writer.close()
