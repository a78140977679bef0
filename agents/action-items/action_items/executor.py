"""Runs the graph for one A2A message and reports it as a Task: working, artifacts, exactly one end."""

import asyncio
import logging
from datetime import date
from typing import Any, cast

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import DataPart, Part, Task, TaskState, TaskStatus, TextPart
from langgraph.graph.state import CompiledStateGraph

from action_items.graph import Item
from action_items.tasks import RecentTasks
from aop.agent import current

SKILL = "extract-action-items"
ARTIFACT = "action-items"
_CANCEL_SECONDS = 5.0


class Unusable(Exception):
    """The input is not what the Skill asks for; the text is for the caller."""


class ActionItems(AgentExecutor):
    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any], tasks: RecentTasks) -> None:
        self._graph = graph
        self._tasks = tasks
        self._running: dict[str, asyncio.Task[None]] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task_id, context_id = str(context.task_id), str(context.context_id)
        updater = TaskUpdater(event_queue, task_id, context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.submitted)
            await event_queue.enqueue_event(Task(id=task_id, context_id=context_id, status=status))
        given = _data(context)
        if given is None:
            await updater.requires_input(_text(updater, f"Send one data part: the input of {SKILL}."), final=True)
            return
        work = asyncio.create_task(self._work(given, updater, streamed=_is_streamed(context)))
        self._running[task_id] = work
        try:
            await asyncio.wait({work})
            await _conclude(work, updater)
        finally:
            work.cancel()
            del self._running[task_id]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Left to itself, a2a-sdk stops a canceled run without a word to its stream, which then never ends.

        So the run is told to stop first, and says `canceled` itself, to everyone who listens. Only a Task that does
        not run is ended from here.
        """
        work = self._running.get(str(context.task_id))
        if work is None:
            await TaskUpdater(event_queue, str(context.task_id), str(context.context_id)).cancel()
            return
        work.cancel()
        async with asyncio.timeout(_CANCEL_SECONDS):
            await self._tasks.wait_ended(str(context.task_id))

    async def _work(self, given: dict[str, Any], updater: TaskUpdater, *, streamed: bool) -> None:
        notes = _notes(given)
        await updater.start_work()
        found: list[Item] = []
        async for written in self._graph.astream(notes, stream_mode="custom"):
            item = cast("Item", written)
            found.append(item)
            if streamed:
                await _send(updater, [item], f"{ARTIFACT}-{len(found)}")
        if not streamed or not found:
            await _send(updater, found, ARTIFACT)


async def _conclude(work: asyncio.Task[None], updater: TaskUpdater) -> None:
    problem = None if work.cancelled() else work.exception()
    if work.cancelled():
        await updater.cancel()
    elif isinstance(problem, Unusable):
        await updater.reject(_text(updater, str(problem)))
    elif problem is not None:
        # Raised from here it would overtake the terminal event, and the stream would end without one.
        logging.getLogger(__name__).error("the work failed", exc_info=problem)
        await updater.failed(_text(updater, "The work failed."))
    else:
        await updater.complete()


async def _send(updater: TaskUpdater, items: list[Item], artifact_id: str) -> None:
    """One whole artifact. Each chunk of a stream has to follow the Skill's outputSchema, just as the result does."""
    part = Part(root=DataPart(data={"items": [dict(item) for item in items]}))
    await updater.add_artifact([part], artifact_id=artifact_id, append=False, last_chunk=True)


def _text(updater: TaskUpdater, text: str) -> Any:
    return updater.new_agent_message([Part(root=TextPart(text=text))])


def _is_streamed(context: RequestContext) -> bool:
    call = context.call_context
    return call is not None and call.state.get("method") == "message/stream"


def _data(context: RequestContext) -> dict[str, Any] | None:
    parts = [part.root for part in context.message.parts] if context.message else []
    return next((part.data for part in parts if isinstance(part, DataPart)), None)


def _notes(given: dict[str, Any]) -> dict[str, Any]:
    """The Router has checked the input against the Card; this Agent still looks, because anyone may run it alone."""
    if current().capability != SKILL:
        raise Unusable(f"This Agent offers {SKILL} only.")
    notes, pace = given.get("notes"), given.get("paceMs", 0)
    if not isinstance(notes, str) or not notes or type(pace) is not int or not 0 <= pace <= 1000:
        raise Unusable("`notes` is a text that is not empty; `paceMs` is an integer from 0 to 1000.")
    try:
        day = date.fromisoformat(given["meetingDate"]) if "meetingDate" in given else None
    except (TypeError, ValueError):
        raise Unusable("`meetingDate` is a day of the calendar, as YYYY-MM-DD.") from None
    return {"notes": notes, "meeting_date": day, "pace": pace / 1000}
