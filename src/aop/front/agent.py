"""One Agent behind the front: its Card, its address and dialect, and the calls that run through it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from aop.a2a.dialect import AgentResponse, Dialect, with_id_of_caller
from aop.a2a.rpc import RequestId
from aop.base.ids import new_request_id
from aop.contracts.card import AgentCard
from aop.front.faults import UpstreamFault
from aop.front.limits import FrontMemory
from aop.front.routes import HttpRoutes
from aop.front.running import RunningCall, RunningCalls
from aop.front.upstream import JSON, Upstream, UpstreamRequest
from aop.net.http import Headers
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.unit.held import HeldBytes

CANCEL_SECONDS: Final = 5.0
CANCEL_ANSWER_BYTES: Final = 1024 * 1024
GRACE_SECONDS: Final = 5.0
"""Beyond the Card's time limit: the Router ends every call before, and the Agent learns of it."""
_CANCEL_ID: Final = "cancel"
_MAX_BACKGROUND: Final = 1_000
_STOP_SECONDS: Final = 2.0


def path_of(card: AgentCard) -> str:
    return f"/{card.agent_id}/{card.version}"


@dataclass
class FrontedAgent:
    card: AgentCard
    upstream: Upstream
    speaks: Dialect | HttpRoutes
    forwards_delegation: bool = False
    skill_ids: Mapping[str, str] = field(default_factory=dict)
    """What the Agent calls Skills that have another id in its Card."""
    running: RunningCalls = field(default_factory=RunningCalls)
    _background: set[asyncio.Task[None]] = field(default_factory=set)
    _has_noted_append: bool = False

    @property
    def path(self) -> str:
        return path_of(self.card)

    @property
    def seconds(self) -> float:
        return self.card.limits.timeout_ms / 1000 + GRACE_SECONDS

    def is_addressed_by(self, agent_id: str, version: str) -> bool:
        return (self.card.agent_id, self.card.version) == (agent_id, version)

    def own_id(self, skill_id: str) -> str | None:
        """What the Agent calls this Skill of the Card; None for a Skill that the Card has not."""
        in_card = any(skill.id == skill_id for skill in self.card.skills)
        return self.skill_ids.get(skill_id, skill_id) if in_card else None

    def begun_by_append(self) -> None:
        """Says once in the log that this Agent appends to artifacts that it has not begun: they begin so."""
        if not self._has_noted_append:
            self._has_noted_append = True
            UnitLog("front").event("agent.begun_by_append", level=Level.WARNING, cause=self.card.agent_id)

    async def cancel(
        self, dialect: Dialect, call: RunningCall, request_id: RequestId, headers: Headers, held: HeldBytes
    ) -> AgentResponse:
        """Sends the one cancel of this call; UpstreamFault when it has no answer."""
        call.cancel_sent = True
        own_id = new_request_id()
        request = UpstreamRequest(
            dialect.cancel_task(own_id, call.task_id or ""),
            JSON,
            asyncio.get_running_loop().time() + CANCEL_SECONDS,
            CANCEL_ANSWER_BYTES,
            headers,
        )

        def read(text: bytes) -> AgentResponse:
            return dialect.read_task(with_id_of_caller(text, own_id, request_id), request_id)

        return await self.upstream.json(request, held, read)

    def end(self, call: RunningCall, headers: Headers) -> None:
        """The call is over for its caller. What the Agent may still do is canceled, unless it has been."""
        self.running.end(call)
        if call.may_run and not call.cancel_sent and not isinstance(self.speaks, HttpRoutes):
            call.cancel_sent = True
            self.continue_with(self._cancel_quietly(self.speaks, call, headers))

    def continue_with(self, work: Coroutine[Any, Any, None], otherwise: Callable[[], None] | None = None) -> None:
        """For work that no one waits for; each piece ends by itself within seconds. Without room: `otherwise`."""
        if len(self._background) >= _MAX_BACKGROUND:
            work.close()
            if otherwise is not None:
                otherwise()
            return
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        if self._background:
            await asyncio.wait(self._background, timeout=_STOP_SECONDS)
        for task in self._background:
            task.cancel()
        if self._background:
            await asyncio.wait(self._background)
        await self.upstream.close()

    async def _cancel_quietly(self, dialect: Dialect, call: RunningCall, headers: Headers) -> None:
        with suppress(UpstreamFault), FrontMemory().held() as held:
            await self.cancel(dialect, call, _CANCEL_ID, headers, held)
