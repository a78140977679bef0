"""An Agent of BeeAI. Its A2A server opens its own socket, so it runs behind `aop front`."""

import json
from collections.abc import AsyncGenerator

from beeai_framework.adapters.a2a import A2AServer, A2AServerConfig
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.backend import AssistantMessage, ChatModel, ChatModelOutput, UserMessage
from beeai_framework.backend.message import MessageToolCallContent
from beeai_framework.backend.types import ChatModelInput
from beeai_framework.context import RunContext
from beeai_framework.memory import UnconstrainedMemory
from beeai_framework.serve.utils import LRUMemoryManager

from interop.host import PORT
from interop.script import reply

# What this kind of Agent puts before the words of its caller.
_PROMPT = "Your task: "


class ScriptedModel(ChatModel):
    @property
    def model_id(self) -> str:
        return "scripted"

    @property
    def provider_id(self) -> str:
        return "openai"

    async def _create(self, input: ChatModelInput, run: RunContext) -> ChatModelOutput:  # noqa: A002
        text = next(message.text for message in reversed(input.messages) if isinstance(message, UserMessage))
        answer = json.dumps({"response": await reply(text.removeprefix(_PROMPT))})
        call = MessageToolCallContent(id="call-1", tool_name="final_answer", args=answer)
        return ChatModelOutput(output=[AssistantMessage([call])])

    async def _create_stream(
        self,
        input: ChatModelInput,  # noqa: A002
        run: RunContext,
    ) -> AsyncGenerator[ChatModelOutput, None]:
        yield await self._create(input, run)


if __name__ == "__main__":
    chat = RequirementAgent(llm=ScriptedModel(), memory=UnconstrainedMemory(), name="Chat", description="Answers.")
    config = A2AServerConfig(host="127.0.0.1", port=PORT)
    A2AServer(config=config, memory_manager=LRUMemoryManager(maxsize=100)).register(chat).serve()
