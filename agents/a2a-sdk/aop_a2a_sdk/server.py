"""Skills behind the server of a2a-sdk 0.3, for Agents that use it; the package is theirs to install."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

import msgspec
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard as SdkCard
from a2a.types import DataPart, Message, Part, Task, TaskState, TaskStatus, TextPart

from aop.a2a.writing import ARTIFACT
from aop.agent.guard.card import public_card
from aop.agent.guard.guard import JSON, Guard, current, respond
from aop.agent.guard.settings import AgentSettings, guarded
from aop.agent.server.call_log import AgentCall
from aop.agent.server.endpoint import HEALTH_PAGES
from aop.agent.server.skills import AgentSkill, SkillFunction, Skills
from aop.agent.server.tasks import LimitReached, ending_of, time_limit
from aop.contracts.card import AgentCard
from aop.net.asgi import Receive, Scope, Send
from aop_a2a_sdk.requests import StrictRequests
from aop_a2a_sdk.tasks import FollowedTasks, RecentTasks

MAX_HISTORY_BYTES: Final = 16 * 1024
_CANCEL_SECONDS: Final = 5.0


def sdk_application(
    card: AgentCard, skills: Mapping[str, SkillFunction | AgentSkill], settings: AgentSettings
) -> Guard:
    """The ASGI application of a2a-sdk for these Skills, behind the guard."""
    tasks = RecentTasks()
    executor = SkillExecutor(Skills(card, skills), tasks, card.limits.timeout_ms / 1000)
    public = SdkCard.model_validate(public_card(card, settings.trust.audience))
    app = StrictRequests(A2AStarletteApplication(public, FollowedTasks(executor, tasks)).build())

    async def with_health(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in HEALTH_PAGES:
            await respond(send, 200, [JSON], HEALTH_PAGES[scope["path"]])
        else:
            await app(scope, receive, send)

    return guarded(with_health, settings)


class SkillExecutor(AgentExecutor):
    """Runs a Skill for one message and reports it as a Task: working, artifacts, exactly one end."""

    def __init__(self, skills: Skills, tasks: RecentTasks, seconds: float) -> None:
        self._skills = skills
        self._tasks = tasks
        self._seconds = seconds
        self._running: dict[str, asyncio.Task[None]] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task_id, context_id = str(context.task_id), str(context.context_id)
        call, updater = AgentCall(current(), _method(context)), TaskUpdater(event_queue, task_id, context_id)
        if context.current_task is None:
            status, history = TaskStatus(state=TaskState.submitted), _history(context)
            await event_queue.enqueue_event(Task(id=task_id, context_id=context_id, status=status, history=history))
        text = self._input(context, call.context.capability)
        if text is None:
            await _tell(
                updater, TaskState.input_required, f"Send one data part: the input of {call.context.capability}."
            )
            call.record(TaskState.input_required.value)
            return
        work = asyncio.create_task(self._work(call, text, updater))
        self._running[task_id] = work
        try:
            await asyncio.wait({work})
            await _conclude(work, updater, call)
        finally:
            work.cancel()
            del self._running[task_id]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """a2a-sdk alone stops a canceled run without a word to its stream, which then never ends.

        So the run is stopped first, and reports `canceled` itself to all who listen. Only a Task that does not run is
        ended from here.
        """
        work = self._running.get(str(context.task_id))
        if work is None:
            await TaskUpdater(event_queue, str(context.task_id), str(context.context_id)).cancel()
            return
        work.cancel()
        async with asyncio.timeout(_CANCEL_SECONDS):
            await self._tasks.wait_ended(str(context.task_id))

    def _input(self, context: RequestContext, skill_id: str) -> bytes | None:
        parts = [part.root for part in context.message.parts] if context.message else []
        for part in parts:
            if isinstance(part, DataPart):
                return msgspec.json.encode(part.data)
            if isinstance(part, TextPart) and self._skills.takes_text(skill_id):
                return msgspec.json.encode(part.text)
        return None

    async def _work(self, call: AgentCall, text: bytes, updater: TaskUpdater) -> None:
        chunks = self._skills.chunks(call.context.capability, text, call.context)
        await updater.start_work()
        async with time_limit(self._seconds), aclosing(chunks) as source:
            await self._collect(call, source, updater)

    async def _collect(self, call: AgentCall, chunks: AsyncGenerator[Any, None], updater: TaskUpdater) -> None:
        pending: list[Any] = []
        goes_on = False
        async for chunk in chunks:
            if call.method == "message/stream":
                await _send(updater, chunk, append=goes_on)
                goes_on = True
            else:
                pending.append(chunk)
        if pending:
            await _send(updater, self._skills.join(call.context.capability, pending), append=False)


async def _conclude(work: asyncio.Task[None], updater: TaskUpdater, call: AgentCall) -> None:
    # What the Skill raised is reported here: raised further, it would overtake the terminal event of the stream.
    problem = None if work.cancelled() else work.exception()
    state, note = ending_of(work, problem)
    unexpected = state == TaskState.failed.value and not isinstance(problem, LimitReached)
    call.record(state, problem, unexpected=unexpected)
    await _tell(updater, TaskState(state.value), note)


async def _tell(updater: TaskUpdater, state: TaskState, note: str | None) -> None:
    message = None if note is None else updater.new_agent_message([Part(root=TextPart(text=note))])
    await updater.update_status(state, message, final=True)


async def _send(updater: TaskUpdater, value: Any, *, append: bool) -> None:
    part = TextPart(text=value) if isinstance(value, str) else DataPart(data=msgspec.to_builtins(value))
    await updater.add_artifact([Part(root=part)], artifact_id=ARTIFACT, append=append)


def _history(context: RequestContext) -> list[Message]:
    # a2a-sdk repeats it in every answer, whose size the Card limits: a large message leaves no room for the result.
    message = context.message
    return [] if message is None or len(message.model_dump_json()) > MAX_HISTORY_BYTES else [message]


def _method(context: RequestContext) -> str:
    call = context.call_context
    return str(call.state.get("method")) if call is not None else "unknown"
