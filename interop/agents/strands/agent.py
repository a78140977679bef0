"""An Agent of Strands, turned into an A2A application by the framework's own server."""

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

from strands import Agent
from strands.models.model import Model
from strands.multiagent.a2a import A2AServer

from interop.host import ORIGIN, PORT, serve
from interop.script import words


class ScriptedModel(Model):
    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    def structured_output(self, output_model: Any, prompt: Any, *rest: Any, **more: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError

    async def stream(self, messages: Any, *rest: Any, **more: Any) -> AsyncIterable[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        async for word in words(messages[-1]["content"][0]["text"]):
            yield {"contentBlockDelta": {"delta": {"text": word}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def chat(_: str) -> Agent:
    return Agent(model=ScriptedModel(), name="Chat", description="Answers a text.", callback_handler=None)


if __name__ == "__main__":
    server = A2AServer(agent_factory=chat, host="127.0.0.1", port=PORT, http_url=ORIGIN)
    serve(server.to_starlette_app())
