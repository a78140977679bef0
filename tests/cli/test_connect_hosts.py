"""The files of MCP hosts: read as the host reads them, each leads to the Skills of the Workspace."""

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from aop.cli.shell import snippets
from interop.snippets import AGENT, ANSWER, SKILL
from tests.cli.conftest import Aop, Stack
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

HOSTS = [snippet for snippet in snippets.table().snippets if snippet.group == "hosts"]
_TABLES = ("mcpServers", "servers", "mcp_servers")
_VARIABLE = re.compile(r"\$\{(?:env:)?AOP_TOKEN\}|\$\{input:aop-token\}")


def server_of(code: str, language: str) -> dict[str, Any]:
    """What a host finds in its file, or is told by the command."""
    if language == "sh":
        words = shlex.split(code)
        assert words[:5] == ["claude", "mcp", "add", "aop-demo", "--"]
        return {"command": words[5], "args": words[6:]}
    document = tomllib.loads(code) if language == "toml" else json.loads(code)
    (server,) = next(document[name] for name in _TABLES if name in document).values()
    return dict(server)


def header_of(server: Mapping[str, Any], token: str) -> str:
    """As the host makes it: the variable, or what its prompt was given, takes the place of its name."""
    if "bearer_token_env_var" in server:
        assert server["bearer_token_env_var"] == "AOP_TOKEN"
        return f"Bearer {token}"
    return _VARIABLE.sub(token, server["headers"]["Authorization"])


@pytest.fixture
def servers(aop: Aop) -> dict[str, dict[str, Any]]:
    said = [aop("connect", "--for", snippet.name, "--json").json for snippet in HOSTS]
    return {one["name"]: server_of(one["code"], one["language"]) for one in said}


@pytest.mark.rows("DOOR-02")
async def test_a_host_that_starts_the_command_lists_and_calls_the_skills(
    servers: dict[str, dict[str, Any]], stack: Stack
) -> None:
    started = {(one["command"], *one["args"]) for one in servers.values() if "command" in one}
    assert len(started) == 1, "every host starts the same command"
    program, *arguments = started.pop()
    environment = {"PATH": os.defpath, "HOME": str(stack.platform.data)}
    await require_tools(Client(stdio_client(StdioServerParameters(command=program, args=arguments, env=environment))))
    assert Path(program).parent == Path(sys.executable).parent


@pytest.mark.rows("DOOR-02")
async def test_a_host_that_calls_the_door_lists_and_calls_the_skills(
    servers: dict[str, dict[str, Any]], stack: Stack
) -> None:
    called = {
        (one.get("url") or one["serverUrl"], header_of(one, stack.token))
        for one in servers.values()
        if "command" not in one
    }
    assert len(called) == 1, "every host calls the same address with the same header"
    url, header = called.pop()
    async with httpx2.AsyncClient(headers={"Authorization": header}, timeout=PATIENCE_SECONDS) as http:
        await require_tools(Client(streamable_http_client(url, http_client=http)))


async def require_tools(opened: Client) -> None:
    async with opened as client:
        tools = (await client.list_tools()).tools
        named = {((tool.meta or {})["aop/agentId"], (tool.meta or {})["aop/skillId"]): tool.name for tool in tools}
        assert {agent for agent, _ in named} >= {"aop:action-items", "aop:meeting-brief", AGENT}
        result = await client.call_tool(named[AGENT, SKILL], {"text": f"{ANSWER} Tea needs rain."})
    assert not result.is_error
    assert ANSWER in json.dumps(result.structured_content)
