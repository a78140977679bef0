"""An Agent on a2a-sdk 1.x, as its documentation shows; `agent.py` and `legacy.py` serve it in its two versions."""

from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

from interop.host import ORIGIN
from interop.script import words


class ChatExecutor(AgentExecutor):
    """Each word is an artifact of its own, or is appended to the one with this id."""

    def __init__(self, artifact_id: str | None) -> None:
        self._artifact_id = artifact_id

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        has_begun = False
        async for word in words(context.get_user_input()):
            await updater.add_artifact([new_text_part(word)], artifact_id=self._artifact_id, append=has_begun)
            has_begun = self._artifact_id is not None
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def application(*versions: str, artifact_id: str | None = None) -> Starlette:
    card = AgentCard(
        name="Chat",
        description="Answers a text.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{ORIGIN}/", protocol_binding="JSONRPC", protocol_version=version)
            for version in versions
        ],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="chat", name="Chat", description="Answers a text.", tags=["chat"])],
    )
    requests = DefaultRequestHandler(
        agent_executor=ChatExecutor(artifact_id), task_store=InMemoryTaskStore(), agent_card=card
    )
    rpc = create_jsonrpc_routes(requests, rpc_url="/", enable_v0_3_compat="0.3" in versions)
    return Starlette(routes=[*create_agent_card_routes(card), *rpc])
