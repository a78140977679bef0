"""An Agent of Agno in AgentOS, with its A2A interface."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.os import AgentOS

from interop.host import serve
from interop.script import reply, words


class ScriptedModel(Model):
    async def ainvoke(self, *, messages: list[Message], **more: Any) -> ModelResponse:
        return ModelResponse(role="assistant", content=await reply(str(messages[-1].content)))

    async def ainvoke_stream(self, *, messages: list[Message], **more: Any) -> AsyncIterator[ModelResponse]:
        async for word in words(str(messages[-1].content)):
            yield ModelResponse(role="assistant", content=word)

    def invoke(self, *args: Any, **more: Any) -> ModelResponse:
        raise NotImplementedError

    def invoke_stream(self, *args: Any, **more: Any) -> Iterator[ModelResponse]:
        raise NotImplementedError

    def _parse_provider_response(self, response: ModelResponse, **more: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: ModelResponse) -> ModelResponse:
        return response


if __name__ == "__main__":
    chat = Agent(id="chat", name="Chat", model=ScriptedModel(id="scripted"), telemetry=False)
    serve(AgentOS(agents=[chat], a2a_interface=True, telemetry=False).get_app())
