"""An Agent of Google ADK, turned into an A2A application by the framework's own `to_a2a`."""

from collections.abc import AsyncGenerator

from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai.types import Content, Part

from interop.host import PORT, serve
from interop.script import reply


class ScriptedModel(BaseLlm):
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        text = (llm_request.contents[-1].parts or [])[0].text or ""
        yield LlmResponse(content=Content(role="model", parts=[Part(text=await reply(text))]))


chat = LlmAgent(name="chat", model=ScriptedModel(model="scripted"), description="Answers a text.")

if __name__ == "__main__":
    serve(to_a2a(chat, host="127.0.0.1", port=PORT))
