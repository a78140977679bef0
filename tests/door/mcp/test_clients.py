"""The clients of the MCP package use the Agents of a Workspace, by HTTP and through `aop mcp`, in both eras."""

import asyncio
import json
from typing import Any

import pytest
from mcp import Client, MCPError

from tests.support.agent import a_message, data, invocation_of, rpc_error, text
from tests.support.door import OpenDoor
from tests.support.loop import open_skill
from tests.support.mcp_clients import HANDSHAKE, VERSIONS, WAYS, Heard, connected
from tests.support.peers import hold
from tests.support.streaming_agent import a_whole_stream, endless, piece, streamed, task
from tests.support.waiting import becomes_true, patience

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]

_TOOL = "acme_agent__work_"
_TEXT_SKILL = open_skill("say", inputSchema={"$ref": "#/$defs/t", "$defs": {"t": {"type": "string"}}})


@pytest.mark.rows("DOOR-02", "DOOR-03", "DOOR-04")
@pytest.mark.parametrize(
    ("way", "mode"), [way if way[1] == "auto" else pytest.param(*way, marks=pytest.mark.long) for way in WAYS]
)
async def test_tools_are_listed_called_followed_and_cancelled(door: OpenDoor, way: str, mode: str) -> None:
    heard = Heard()
    async with patience(), connected(door, way, mode, heard) as client:
        assert client.protocol_version == VERSIONS[mode]
        assert client.server_info is not None
        assert client.server_info.name == "agent-operating-platform"
        tool = await listed_tool(client, _TOOL)
        await require_result(door, client, tool)
        await require_progress(door, client, tool)
        await require_errors(door, client, tool)
        await require_early_end(door, client, tool)
        await require_cancel(door, client, tool)
        await require_changes(door, client, mode, heard)


async def listed_tool(client: Client, prefix: str) -> str:
    tools = (await client.list_tools()).tools
    (found,) = [tool for tool in tools if tool.name.startswith(prefix)]
    assert found.title == "Summarize (acme:agent work)"
    assert found.input_schema == {"type": "object"}
    assert found.output_schema is not None
    assert set(found.output_schema["properties"]) == {"result", "chunks"}
    assert (found.meta or {})["aop/agentId"] == "acme:agent"
    return found.name


async def require_result(door: OpenDoor, client: Client, tool: str) -> None:
    door.platform.agent.script(a_message(data({"n": 1})))
    result = await client.call_tool(tool, {"a": "ü"})
    assert (result.is_error, result.structured_content) == (False, {"result": {"n": 1}})
    assert json.loads(result.content[0].model_dump()["text"]) == result.structured_content
    meta: dict[str, Any] = dict(result.meta or {})
    detail = await door.platform.detail(meta["aop/invocationId"])
    assert detail["invocation"]["traceId"] == meta["aop/traceId"]
    assert detail["invocation"]["status"] == "succeeded"


async def require_progress(door: OpenDoor, client: Client, tool: str) -> None:
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    door.platform.agent.script(streamed(*a_whole_stream(3)))
    result = await client.call_tool(tool, {}, progress_callback=note)
    assert result.structured_content == {"chunks": [0, 1, 2]}
    assert seen == [(1, "0"), (2, "1"), (3, "2")]
    door.platform.agent.script(streamed(*a_whole_stream(1)))
    result = await client.call_tool(tool, {}, progress_callback=note)
    assert result.structured_content == {"result": 0}


async def require_errors(door: OpenDoor, client: Client, tool: str) -> None:
    with pytest.raises(MCPError):
        await client.call_tool("acme__nothing", {})
    door.platform.agent.script(rpc_error(-32000))
    result = await client.call_tool(tool, {})
    meta: dict[str, Any] = dict(result.meta or {})
    said = result.content[0].model_dump()["text"]
    assert (result.is_error, result.structured_content) == (True, None)
    assert (meta["aop/error"]["code"], meta["aop/error"]["reason"]) == ("AGENT_EXECUTION_FAILED", "rpc_error")
    for part in ("AGENT_EXECUTION_FAILED (rpc_error)", "Next step", meta["aop/traceId"], meta["aop/invocationId"]):
        assert part in said
    assert "own words" not in said


async def require_early_end(door: OpenDoor, client: Client, tool: str) -> None:
    """An upstream that stops in the middle is an error, and the chunks before it are no result."""
    door.platform.agent.script(streamed(task(), piece(0, 0, 2)))
    result = await client.call_tool(tool, {}, progress_callback=ignore)
    assert (result.is_error, result.structured_content) == (True, None)
    assert dict(result.meta or {})["aop/error"]["reason"] == "stream_ended_early"


async def ignore(progress: float, total: float | None, message: str | None) -> None:
    pass


async def require_cancel(door: OpenDoor, client: Client, tool: str) -> None:
    for method, behaviour, callback in (
        ("message/send", hold, None),
        ("message/stream", endless("x", seconds=0.02), ignore),
    ):
        door.platform.agent.script(behaviour)
        before = len(door.platform.agent.calls(method))
        call = asyncio.create_task(client.call_tool(tool, {}, progress_callback=callback))
        request = await door.platform.agent.arrival(method, before + 1)
        call.cancel()
        await asyncio.wait({call})
        assert (await door.platform.ended(invocation_of(request)))["events"][-1]["type"] == "canceled"


async def require_changes(door: OpenDoor, client: Client, mode: str, heard: Heard) -> None:
    if mode == HANDSHAKE:
        card, _, _ = await door.platform.installed(skills=[_TEXT_SKILL], limits=without_stream())
        await becomes_true(lambda: said_so(heard))
    else:
        async with client.listen(tools_list_changed=True) as events:
            card, _, _ = await door.platform.installed(skills=[_TEXT_SKILL], limits=without_stream())
            async for event in events:
                assert type(event).__name__ == "ToolsListChanged"
                break
    tools = [tool for tool in (await client.list_tools()).tools if (tool.meta or {})["aop/agentId"] == card["agentId"]]
    assert [tool.input_schema["required"] for tool in tools] == [["input"]]
    door.platform.agent.script(a_message(text("heard")))
    result = await client.call_tool(tools[0].name, {"input": "hello"})
    assert result.structured_content == {"result": "heard"}
    wrong = await client.call_tool(tools[0].name, {"inputs": "hello"})
    assert (wrong.is_error, dict(wrong.meta or {})["aop/error"]["code"]) == (True, "VALIDATION_ERROR")


def without_stream() -> dict[str, Any]:
    return {"timeoutMs": 60000, "maxInputBytes": 1048576, "maxOutputBytes": 1048576, "streaming": False}


async def said_so(heard: Heard) -> bool:
    return "notifications/tools/list_changed" in heard.methods
