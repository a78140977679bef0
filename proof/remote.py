"""The tests' end of a unit's remote control."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.switchboard import Armed


@dataclass(frozen=True)
class Remote:
    """Of one unit that was started by `proof.unit --control`."""

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

    async def trail(self) -> list[str]:
        """What was passed since the last arming."""
        return list((await self._ask({}))["trail"])

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
