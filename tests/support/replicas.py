"""Units as processes of their own: started, signalled and started again on their port; and a dispatch of a root."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aop
from aop.base.ids import new_id, new_trace_id
from aop.contracts.publication import Release
from aop.net.http import HttpError
from tests.support.cards import Card
from tests.support.loop import CAPABILITY, SPACE
from tests.support.units import RunningUnit
from tests.support.waiting import PATIENCE_SECONDS, becomes_true

# A test that runs on a copy of the product starts its processes from that copy.
_PRODUCT = str(Path(aop.__file__).parents[1])


@dataclass
class Replica:
    """One unit; what it says is in its log. `command` is what Python is told to run, before the unit's name."""

    name: str
    unit: RunningUnit
    settings: dict[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None
    command: Sequence[str] = ("-m", "aop")
    options: Sequence[str] = ()
    """Behind the unit's name."""

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                *(*self.command, self.name, *self.options),
                env={**self.settings, "PATH": os.defpath, "PYTHONPATH": _PRODUCT},
                stdout=log,
                stderr=log,
            )

    async def ready(self, seconds: float = PATIENCE_SECONDS) -> None:
        await becomes_true(self.is_ready, seconds)

    async def restart(self, seconds: float = PATIENCE_SECONDS) -> float:
        """Seconds from the start of the process until it is ready."""
        begun = asyncio.get_running_loop().time()
        await self.start()
        await self.ready(seconds)
        return asyncio.get_running_loop().time() - begun

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Its exit code."""
        assert self.process is not None
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.send(signal.SIGKILL)
            await self.process.wait()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    async def is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.returncode is None, self.said
        with suppress(HttpError):
            return (await self.unit.get("/readyz")).status == 200
        return False


def dispatch_body(card: Card, release: Release) -> dict[str, Any]:
    """A root Invocation as Dispatch authorizes it."""
    return {
        "invocationId": new_id("inv"),
        "rootTaskId": new_id("task"),
        "traceId": new_trace_id(),
        "workspaceId": SPACE,
        "targetAgentId": card["agentId"],
        "capability": CAPABILITY,
        "caller": {"type": "user", "id": "alice"},
        "agentCardVersion": card["version"],
        "agentReleaseId": release.release_id,
        "agentCardDigest": release.card_digest,
        "authorizationDigest": release.card_digest,
        "input": {},
        "stream": False,
    }
