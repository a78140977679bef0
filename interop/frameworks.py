"""Which Agents are compared, and how each is put behind the platform."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID, uuid5

from interop.environments import AGENTS, is_node
from tools.lock_files import read_npm, read_python

VERSION = "1.0.0"
# An exception of the executor breaks the connection of a stream, and that is all the Router sees.
_STREAM_BREAKS = {"error_in_stream": "AGENT_UNAVAILABLE"}
# When the model raises, Agno says that the Task is completed, and nothing else.
_COMPLETES_ALWAYS = {"error": "wrong reply: no text: None", "error_in_stream": "wrong reply: "}
# The first cancel stops all later work of BeeAI's server: it keeps one signal for all Tasks and never renews it.
_AFTER_CANCEL = ("cancel_in_stream", "time_limit", "time_limit_in_stream")
# The server of LangGraph names the assistant of a graph after the graph.
LANGGRAPH_ID = uuid5(UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), "chat")


class Way(Enum):
    GUARD = "guard"
    """The framework's ASGI application runs under the guard of `aop.agent`."""
    FRONT = "front"
    """The framework's server runs by itself, behind `aop front`."""


@dataclass(frozen=True)
class Framework:
    """One Agent. `package` is what its author installs; the version is that of the lock file."""

    name: str
    package: str
    folder: str
    protocol: str
    way: Way
    program: str = "agent.py"
    path: str = "/"
    streams: bool = True
    short: bool = False
    """Part of the tests: small, and of the SDKs themselves."""
    also: tuple[str, ...] = ()
    """Other packages whose version matters."""
    one_at_a_time: bool = False
    """Works on one message after the other: a canceled one keeps the next waiting until its own end."""
    left_out: tuple[str, ...] = ()
    deviations: Mapping[str, str] = field(default_factory=dict)
    """What a call comes to where the framework gives the platform nothing else to go by."""

    @property
    def agent_id(self) -> str:
        return f"interop:{self.name}"

    @property
    def public_path(self) -> str:
        """The path of the endpoint that is published: the front has one of its own for each Agent."""
        return f"/{self.agent_id}/{VERSION}" if self.way is Way.FRONT else self.path

    @property
    def packages(self) -> str:
        locked = versions(self.folder)
        return ", ".join(f"{name} {locked[name]}" for name in (self.package, *self.also))


FRAMEWORKS = (
    Framework("a2a-sdk-0.3", "a2a-sdk", "a2a-sdk-0.3", "0.3", Way.GUARD, short=True, deviations=_STREAM_BREAKS),
    Framework("a2a-sdk-1-legacy", "a2a-sdk", "a2a-sdk-1", "0.3", Way.GUARD, "legacy.py", short=True),
    Framework("a2a-sdk-1", "a2a-sdk", "a2a-sdk-1", "1.0", Way.FRONT, short=True),
    Framework("a2a-sdk-1-appending", "a2a-sdk", "a2a-sdk-1", "1.0", Way.FRONT, "appending.py", short=True),
    Framework("a2a-js-0.3", "@a2a-js/sdk", "a2a-js-0.3", "0.3", Way.FRONT, "agent.mjs"),
    Framework("a2a-js-1-legacy", "@a2a-js/sdk", "a2a-js-1", "0.3", Way.FRONT, "legacy.mjs"),
    Framework("a2a-js-1", "@a2a-js/sdk", "a2a-js-1", "1.0", Way.FRONT, "agent.mjs", short=True),
    Framework("google-adk", "google-adk", "google-adk", "0.3", Way.GUARD, also=("a2a-sdk",)),
    Framework(
        "google-adk-a2a-0.3",
        "google-adk",
        "google-adk-a2a-0.3",
        "0.3",
        Way.GUARD,
        "../google-adk/agent.py",
        also=("a2a-sdk",),
    ),
    Framework(
        "pydantic-ai",
        "pydantic-ai-slim",
        "pydantic-ai",
        "0.3",
        Way.GUARD,
        streams=False,
        also=("fasta2a",),
        one_at_a_time=True,
    ),
    Framework(
        "fasta2a",
        "fasta2a",
        "fasta2a",
        "1.0",
        Way.FRONT,
        "../pydantic-ai/agent.py",
        also=("pydantic-ai-slim",),
        one_at_a_time=True,
    ),
    Framework(
        "langgraph", "langgraph-api", "langgraph", "0.3", Way.GUARD, path=f"/a2a/{LANGGRAPH_ID}", also=("langgraph",)
    ),
    Framework("strands", "strands-agents", "strands", "0.3", Way.GUARD, also=("a2a-sdk",)),
    Framework(
        "agent-framework", "agent-framework-core", "agent-framework", "1.0", Way.FRONT, also=("agent-framework-a2a",)
    ),
    Framework(
        "agent-framework-streaming",
        "agent-framework-core",
        "agent-framework",
        "1.0",
        Way.FRONT,
        "streaming.py",
        also=("agent-framework-a2a",),
    ),
    Framework(
        "agno",
        "agno",
        "agno",
        "0.3",
        Way.FRONT,
        path="/a2a/agents/chat",
        also=("a2a-sdk",),
        deviations=_COMPLETES_ALWAYS,
    ),
    Framework("beeai", "beeai-framework", "beeai", "0.3", Way.FRONT, also=("a2a-sdk",), left_out=_AFTER_CANCEL),
)


def versions(folder: str) -> dict[str, str]:
    """Those of the lock file in that folder."""
    place = AGENTS / folder
    if is_node(folder):
        path = place / "package-lock.json"
        lock = read_npm(path, json.loads(path.read_bytes()))
    else:
        path = place / "requirements.lock"
        lock = read_python(path, path.read_text("utf-8"))
    return {pin.name: pin.version for pin in lock.pins}
