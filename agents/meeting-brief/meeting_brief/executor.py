"""Runs a Skill for one A2A message and reports it as a Task: working, one artifact, exactly one end."""

import asyncio
import logging
from typing import Any

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import DataPart, Message, Part, Task, TaskState, TaskStatus, TextPart

from aop.agent import AgentContext, NestedCallFailed, current
from meeting_brief.skills import Skills, Unusable
from meeting_brief.tasks import RecentTasks

ARTIFACT = "result"
_CANCEL_SECONDS = 5.0


class MeetingBrief(AgentExecutor):
    def __init__(self, skills: Skills, tasks: RecentTasks) -> None:
        self._skills = skills
        self._tasks = tasks
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task_id, context_id = str(context.task_id), str(context.context_id)
        updater = TaskUpdater(event_queue, task_id, context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.submitted)
            await event_queue.enqueue_event(Task(id=task_id, context_id=context_id, status=status))
        asked, given = current(), _data(context)
        if given is None:
            note = f"Send one data part: the input of {asked.capability}."
            await updater.requires_input(_text(updater, note), final=True)
            return
        work = asyncio.create_task(self._work(given, asked, updater))
        self._running[task_id] = work
        try:
            await asyncio.wait({work})
            await _conclude(work, updater)
        finally:
            work.cancel()
            del self._running[task_id]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stops the run, and with it the calls it has made; the run then says `canceled` itself, to all who listen.

        a2a-sdk alone would stop it without a word to its stream. Only a Task that does not run is ended from here.
        """
        work = self._running.get(str(context.task_id))
        if work is None:
            await TaskUpdater(event_queue, str(context.task_id), str(context.context_id)).cancel()
            return
        work.cancel()
        async with asyncio.timeout(_CANCEL_SECONDS):
            await self._tasks.wait_ended(str(context.task_id))

    async def _work(self, given: dict[str, Any], asked: AgentContext, updater: TaskUpdater) -> dict[str, Any]:
        await updater.start_work()
        return await self._skills.result(given, asked)


async def _conclude(work: asyncio.Task[dict[str, Any]], updater: TaskUpdater) -> None:
    problem = None if work.cancelled() else work.exception()
    if work.cancelled() or isinstance(problem, NestedCallFailed):
        # The one failure of a nested call that ends a run is that the platform has canceled it.
        await updater.cancel()
    elif isinstance(problem, Unusable):
        await updater.reject(_text(updater, str(problem)))
    elif problem is not None:
        # Raised from here it would overtake the terminal event, and the stream would end without one.
        logging.getLogger(__name__).error("the work failed", exc_info=problem)
        await updater.failed(_text(updater, "The work failed."))
    else:
        part = Part(root=DataPart(data=work.result()))
        await updater.add_artifact([part], artifact_id=ARTIFACT, append=False, last_chunk=True)
        await updater.complete()


def _text(updater: TaskUpdater, text: str) -> Message:
    return updater.new_agent_message([Part(root=TextPart(text=text))])


def _data(context: RequestContext) -> dict[str, Any] | None:
    parts = [part.root for part in context.message.parts] if context.message else []
    return next((part.data for part in parts if isinstance(part, DataPart)), None)
