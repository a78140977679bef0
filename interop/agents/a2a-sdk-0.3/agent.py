"""An Agent on a2a-sdk 0.3: an executor that reports a Task and adds artifacts, as the SDK's documentation shows."""

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task

from interop.host import ORIGIN, serve
from interop.script import words


class ChatExecutor(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = context.current_task or new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        async for word in words(context.get_user_input()):
            await updater.add_artifact([Part(root=TextPart(text=word))])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="Chat",
    description="Answers a text.",
    url=f"{ORIGIN}/",
    version="1.0.0",
    default_input_modes=["text"],
    default_output_modes=["text"],
    capabilities=AgentCapabilities(streaming=True),
    skills=[AgentSkill(id="chat", name="Chat", description="Answers a text.", tags=["chat"])],
)
requests = DefaultRequestHandler(agent_executor=ChatExecutor(), task_store=InMemoryTaskStore())

if __name__ == "__main__":
    serve(A2AStarletteApplication(agent_card=card, http_handler=requests).build())
