"""`aop mcp`: the Skills of a Workspace as tools of an MCP host, on stdin and stdout."""

from typing import Final

from aop.cli.shell.platform import ServingWorkspace
from aop.door.bearers import Bearer
from aop.door.gateway import Gateway
from aop.door.mcp.stdio import serve_stdio

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024


async def mcp(platform: ServingWorkspace) -> None:
    """For MCP hosts: an assistant or an editor starts this command and talks to it on stdin and stdout. Every Skill
    that can be called in the Workspace is a tool, and every call of a tool is one Invocation of the platform, with
    your permissions, your limits and a Trace. It ends when the host closes stdin and every request is answered. When
    the host is gone, or ends it with SIGTERM, calls that still run are canceled.

    Versions of MCP: 2026-07-28, and the handshake of 2025-11-25. Hosts that speak HTTP use the door instead:
    DOOR/mcp/WORKSPACE with an access token as bearer.

    The token is that of the local platform, of a profile or of AOP_TOKEN. It is never an argument.

    Example: aop mcp --data .aop --workspace demo
    """
    await platform.client.read_workspace(platform.workspace_id)
    destination = platform.destination
    gateway = Gateway(destination.gateway, MAX_ANSWER_BYTES, ca=destination.ca)
    try:
        await serve_stdio(gateway.caller(Bearer(destination.token), platform.workspace_id), MAX_ANSWER_BYTES)
    finally:
        await gateway.close()
