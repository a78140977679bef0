"""An Agent behind the front, played by a test: meets each message as told and keeps what it got."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.front.served import ServedFront, served_front
from tests.support.agent import a_task, rpc_error
from tests.support.peers import Behaviour, Received, listening

CANCELS = frozenset({"tasks/cancel", "CancelTask"})
QUESTIONS = frozenset({"tasks/get", "GetTask"})


@dataclass
class PlayedAgent:
    behaviour: Behaviour
    on_get: Behaviour = field(default_factory=lambda: a_task("working"))
    on_cancel: Behaviour = field(default_factory=lambda: rpc_error(-32002))
    received: list[Received] = field(default_factory=list)

    async def meet(self, request: Received) -> None:
        self.received.append(request)
        method = self.methods()[-1]
        if method in CANCELS:
            await self.on_cancel(request)
        elif method in QUESTIONS:
            await self.on_get(request)
        else:
            await self.behaviour(request)

    def methods(self) -> Sequence[str]:
        return [str(request.json.get("method", "")) if request.body[:1] == b"{" else "" for request in self.received]

    def cancels(self) -> int:
        return sum(method in CANCELS for method in self.methods())

    async def is_asked(self) -> bool:
        return bool(self.received)

    async def is_canceled(self) -> bool:
        return self.cancels() == 1


def plain(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    """Exactly this; JSON unless headers are given."""

    async def behave(request: Received) -> None:
        await request.answer(body, status, *headers)

    return behave


@asynccontextmanager
async def before(
    folder: Path, behaviour: Behaviour, speaks: str = "a2a-1.0", **members: Any
) -> AsyncIterator[tuple[ServedFront, PlayedAgent]]:
    """A front before such an Agent; `members` as for `served_front`."""
    agent = PlayedAgent(behaviour)
    async with (
        listening(agent.meet) as port,
        served_front(folder, f"http://127.0.0.1:{port}/base", speaks, **members) as front,
    ):
        yield front, agent
