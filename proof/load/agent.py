"""The Agent of a load run, in a process of its own: does what the input orders, calls itself through the Router, keeps
who asked.

An order holds a `number`, given back in the answer and in each chunk, and may hold `pauseMs`, `chunks`, `pad` (bytes of
each chunk), `fault` and `fan` (how many children at each level below).
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from tests.support.agent import (
    PROOF_PATH,
    a_message,
    a_task,
    credential_of,
    data,
    input_of,
    invocation_of,
    method_of,
    rpc_error,
    saying,
)
from tests.support.nested import NESTED, nested_body
from tests.support.peers import Behaviour, Received, listening, reset
from tests.support.publication import process_on
from tests.support.streaming_agent import HEAD, event_of, piece, send_body, status, task
from tests.support.units import RunningUnit

FAULTS: Mapping[str, tuple[Behaviour, str]] = {
    "reset": (reset, "AGENT_UNAVAILABLE"),
    "status": (saying(b"", 500), "AGENT_UNAVAILABLE"),
    "garbage": (saying(b"garbage"), "A2A_PROTOCOL_ERROR"),
    "error": (rpc_error(-32000), "AGENT_EXECUTION_FAILED"),
}
"""What an order may name: how the Agent fails, and the code that its caller must be told."""
_canceled = a_task("canceled")


@dataclass(frozen=True)
class LoadAgent:
    """Writes a line to `seen` for each request, and serves what lies in `proofs`."""

    router: RunningUnit
    seen: IO[str]
    proofs: Path

    async def meet(self, received: Received) -> None:
        if received.verb != "POST":
            proof = self.proofs / received.target.removeprefix(PROOF_PATH)
            await received.answer(proof.read_bytes())
            return
        method, jti = method_of(received), credential_of(received).claims["jti"]
        self.seen.write(f"{time.time():.6f} {method} {invocation_of(received)} {jti}\n")
        if method == "tasks/cancel":
            await _canceled(received)
            return
        order = json.loads(input_of(received))
        if "fault" in order:
            await FAULTS[order["fault"]][0](received)
        elif method == "message/stream":
            await _stream(received, order)
        else:
            leaves = await self._call_others(received, order) if order.get("fan") else 1
            await asyncio.sleep(order.get("pauseMs", 0) / 1000)
            await a_message(data({"number": order["number"], "leaves": leaves}))(received)

    async def _call_others(self, received: Received, order: Mapping[str, Any]) -> int:
        """How many leaves all children together have."""
        count, *deeper = order["fan"]
        (agent_id,), (delegation,) = (
            received.values(f"x-platform-{name}") for name in ("target-agent-id", "delegation")
        )
        body = nested_body(agent_id, json.dumps({"number": order["number"], "fan": deeper}).encode())
        replies = await asyncio.gather(*(self.router.post(NESTED, body, token=delegation) for _ in range(count)))
        return sum(reply.json.get("result", {}).get("leaves", 0) for reply in replies)


async def _stream(received: Received, order: Mapping[str, Any]) -> None:
    """The ordered chunks, each with its number and the time at which it was sent."""
    await received.send(HEAD)
    await send_body(received, event_of(received, task()))
    pad, count = "x" * order.get("pad", 0), order["chunks"]
    for number in range(count):
        value = {"of": order["number"], "chunk": number, "at": time.time(), "pad": pad}
        await send_body(received, event_of(received, piece(value, number, count)))
        await asyncio.sleep(order.get("pauseMs", 0) / 1000)
    await send_body(received, event_of(received, status("completed")))
    await received.send(b"0\r\n\r\n")


def serve_agent(router_port: int, seen: Path, proofs: Path, report: Connection) -> None:
    """Reports its port and serves until its process ends."""

    async def serve() -> None:
        with seen.open("w", buffering=1) as lines:
            async with process_on(router_port) as router, listening(LoadAgent(router, lines, proofs).meet) as port:
                report.send(port)
                await asyncio.Event().wait()

    asyncio.run(serve())
