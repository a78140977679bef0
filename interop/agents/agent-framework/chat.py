"""An Agent of Microsoft Agent Framework behind its A2AExecutor, as the docstring of that class shows."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import BaseChatClient, ChatResponse, ChatResponseUpdate, Message, ResponseStream
from agent_framework.a2a import A2AExecutor
from starlette.applications import Starlette

from interop.host import ORIGIN
from interop.script import reply, words

Responses = ResponseStream[ChatResponseUpdate, ChatResponse]


class ScriptedClient(BaseChatClient):
    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **more: Any
    ) -> Awaitable[ChatResponse] | Responses:
        text = messages[-1].text
        return self._build_response_stream(_updates(text)) if stream else _response(text)


async def _response(text: str) -> ChatResponse:
    return ChatResponse(messages=[Message(role="assistant", contents=[await reply(text)])])


async def _updates(text: str) -> AsyncIterator[ChatResponseUpdate]:
    async for word in words(text):
        yield ChatResponseUpdate(role="assistant", contents=[{"type": "text", "text": word}])


def application(*, stream: bool) -> Starlette:
    card = AgentCard(
        name="Chat",
        description="Answers a text.",
        version="1.0.0",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[AgentInterface(url=f"{ORIGIN}/", protocol_binding="JSONRPC")],
        skills=[],
    )
    agent = ScriptedClient().as_agent(name="Chat", instructions="Answer.")
    requests = DefaultRequestHandler(
        agent_executor=A2AExecutor(agent, stream=stream), task_store=InMemoryTaskStore(), agent_card=card
    )
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(requests, "/")])
