"""MCP software at the door: the client of the SDK for TypeScript, and the public conformance suite."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from aop.door.mcp.names import tool_names
from aop.net.server import listening_socket
from interop.environments import AGENTS, command
from interop.frameworks import versions
from interop.mcp_relay import relay
from tests.support.agent import a_message, chosen, rpc_error, text
from tests.support.door import OpenDoor, running_door
from tests.support.loop import SPACE, open_skill, running_platform
from tests.support.peers import Behaviour, Received, hold
from tests.support.postgres import PostgresForTests
from tests.support.streaming_agent import a_whole_stream, streamed
from tools.console_build import find_node

FOLDER: Final = "mcp-js"
SUITE: Final = "@modelcontextprotocol/conformance"
_SDK: Final = "@modelcontextprotocol/sdk"
_SUITE_NODE: Final = (22, 0)
_SECONDS: Final = 120.0
_TEXT, _ERROR, _PROGRESS, _WAITS = "test_simple_text", "test_error_handling", "test_tool_with_progress", "test_waits"
_BEHAVIOURS: Final[Mapping[str, Behaviour]] = {
    _TEXT: a_message(text("This is a simple text.")),
    _ERROR: rpc_error(-32000),
    # With pauses: on stdio the client drops progress that it reads together with the result.
    _PROGRESS: streamed(*(step for event in a_whole_stream(3) for step in (event, 0.2))),
    _WAITS: hold,
}
STEPS: Final[Mapping[str, Any]] = {
    "list": sorted([*_BEHAVIOURS, "work"]),
    "call": {"result": "This is a simple text."},
    "progress": [[1, 2, 3], {"chunks": [0, 1, 2]}],
    "error": [True, "AGENT_EXECUTION_FAILED"],
    "cancel": "cancelled",
}
SCENARIOS: Final = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
NOT_OFFERED: Final[Mapping[str, str]] = {
    "logging-set-level, tools-call-with-logging": "the door sends no logs",
    "completion-complete": "the door completes no arguments",
    "tools-call-image, tools-call-audio, tools-call-embedded-resource, tools-call-mixed-content": (
        "the result of a Skill is JSON; a tool gives it as text and as structured content"
    ),
    "tools-call-sampling, tools-call-elicitation, elicitation-sep1034-defaults, elicitation-sep1330-enums": (
        "an Agent asks the host nothing: the invocation POST is the only way to a result"
    ),
    "server-sse-polling": "it needs an event store and Last-Event-ID, which the door never offers",
    "json-schema-2020-12": "it needs a tool of that name with a schema that the suite writes",
    "resources-*, prompts-*": "a Workspace has Skills, and no resources or prompts",
}


@dataclass(frozen=True)
class McpOutcomes:
    """What each step of the client came to, by way, and whether each scenario of the suite passed."""

    steps: Mapping[str, Mapping[str, Any]]
    scenarios: Mapping[str, bool]

    def problems(self) -> list[str]:
        wrong = [
            f"MCP client by {way}: {step} is {found.get(step)!r}"
            for way, found in self.steps.items()
            for step, wanted in STEPS.items()
            if found.get(step) != wanted
        ]
        return wrong + [f"MCP conformance: {name}" for name, passed in self.scenarios.items() if not passed]

    def table(self) -> list[str]:
        found = versions(FOLDER)
        marks = {
            way: ["ok" if steps.get(step) == STEPS[step] else "**FAILED**" for step in STEPS]
            for way, steps in self.steps.items()
        }
        return [
            f"| {_SDK} {found[_SDK]} | {' | '.join(STEPS)} |",
            f"|---|{'---|' * len(STEPS)}",
            *(f"| by {way} | {' | '.join(row)} |" for way, row in marks.items()),
            "",
            f"| Scenario of {SUITE} {found[SUITE]} | Result |",
            "|---|---|",
            *(f"| {name} | {'passed' if passed else '**FAILED**'} |" for name, passed in self.scenarios.items()),
            *(f"| {names} | not offered: {reason} |" for names, reason in NOT_OFFERED.items()),
        ]


async def run_mcp(postgres: PostgresForTests) -> McpOutcomes:
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with _door(postgres, port) as (door, tools):
        by_http = {"url": f"{door.unit.origin}/mcp/{SPACE}"}
        by_stdio = {"command": [sys.executable, "-P", "-m", "aop", "mcp", "--workspace", SPACE]}
        steps = {"HTTP": await _client(door, by_http), "stdio": await _client(door, by_stdio)}
        async with relay(listener, door.unit.port, door.platform.token, tools):
            url = f"http://localhost:{port}/mcp/{SPACE}"
            scenarios = {name: await _passes(url, name) for name in SCENARIOS}
    return McpOutcomes(steps, scenarios)


@asynccontextmanager
async def _door(postgres: PostgresForTests, relay_port: int) -> AsyncIterator[tuple[OpenDoor, Mapping[str, str]]]:
    """A door with a test Agent that has the Skills of the suite's fixtures, and the names of its tools by Skill.

    The names of tools come from ids, so the suite's own names are put in place of them on the way.
    """
    urls = await postgres.new_platform()
    async with running_platform(urls) as platform:
        card, _, _ = await platform.installed(skills=[open_skill(name) for name in _BEHAVIOURS])
        platform.agent.usual = (chosen(_behaviour),)
        names = tool_names([(card["agentId"], skill) for skill in _BEHAVIOURS])
        # What Host and Origin may be follows from the address under which callers know the door.
        async with running_door(platform, PLATFORM_DOOR_ORIGIN=f"http://localhost:{relay_port}") as door:
            yield door, {skill: name for (_, skill), name in names.items()}


def _behaviour(request: Received) -> Behaviour:
    said = " ".join(value for _, value in request.headers)
    return next(behaviour for skill, behaviour in _BEHAVIOURS.items() if skill in said)


async def _client(door: OpenDoor, plan: Mapping[str, Any]) -> dict[str, Any]:
    skills = {"result": _TEXT, "progress": _PROGRESS, "error": _ERROR, "waits": _WAITS}
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251
        "HOME": os.environ.get("HOME", "/"),  # noqa: TID251
        "AOP_GATEWAY": door.platform.gateway.origin,
        "AOP_TOKEN": door.platform.token,
    }
    program = [*command(FOLDER, "caller.mjs", print), json.dumps({**skills, **plan})]
    output, _ = await _ran(program, environment)
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["step"]: line["found"] for line in lines}


async def _passes(url: str, scenario: str) -> bool:
    suite = AGENTS / FOLDER / "node_modules" / SUITE / "dist" / "index.js"
    node = find_node(print, _SUITE_NODE).node
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}  # noqa: TID251
    output, code = await _ran([node, str(suite), "server", "--url", url, "--scenario", scenario], environment)
    print(f"  {scenario}: {'passed' if code == 0 else output}", flush=True)
    return code == 0


async def _ran(program: Sequence[str], environment: Mapping[str, str]) -> tuple[str, int | None]:
    process = await asyncio.create_subprocess_exec(
        *program, env=dict(environment), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return "it did not end", None
    return output.decode("utf-8", "replace"), process.returncode
