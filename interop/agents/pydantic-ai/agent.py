"""An Agent of Pydantic AI, turned into an A2A application by fasta2a."""

from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interop.host import ORIGIN, serve
from interop.script import reply


async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    prompt = next(part for part in reversed(messages[-1].parts) if isinstance(part, UserPromptPart))
    text = prompt.content if isinstance(prompt.content, str) else str(prompt.content[0])
    return ModelResponse(parts=[TextPart(await reply(text))])


if __name__ == "__main__":
    serve(agent_to_a2a(Agent(FunctionModel(respond)), name="Chat", url=ORIGIN, description="Answers a text."))
