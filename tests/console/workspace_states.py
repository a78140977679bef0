"""Workspaces in states worth looking at, made over the Gateway."""

from typing import Any

from tests.console.stack import Json, Stack, a_card

TEXT = {"id": "text.read", "description": "Reads the text it is given."}
MAIL = {"id": "mail.send", "description": "Sends the summary by mail."}


def an_agent_with_a_newer_version(stack: Stack) -> str:
    """1.0.0 and 1.1.0 are published; the newer one asks for more and takes another input. Its id."""
    agent_id = stack.agent_id("mailer")
    stack.publish(agentId=agent_id, name="Mailer")
    skill = {
        **a_card(stack)["skills"][0],
        "inputSchema": {
            "type": "object",
            "required": ["text", "receiver"],
            "properties": {"text": {"type": "string"}, "receiver": {"type": "string", "maxLength": 200}},
        },
        "requiredPermissions": ["text.read", "mail.send"],
    }
    stack.publish(agentId=agent_id, name="Mailer", version="1.1.0", skills=[skill], permissions=[TEXT, MAIL])
    return agent_id


def a_busy_workspace(stack: Stack) -> str:
    """Enabled, disabled, with a Skill that may not be used, with a newer version, suspended, and uninstalled ones."""
    workspace_id = stack.workspace("busy")
    stack.install(workspace_id, "aop:summarizer", ["text.read"])
    update(stack, stack.install(workspace_id, "aop:action-items", ["notes.read"]), "disabled")
    stack.install(workspace_id, "aop:meeting-brief", [])
    stack.install(workspace_id, an_agent_with_a_newer_version(stack), ["text.read"], "1.0.0")
    release = stack.publish(name="Suspended Agent")
    stack.install(workspace_id, release["agentId"], ["text.read"])
    stack.caller.post(f"/v1/releases/{release['releaseId']}/suspend")
    gone = stack.publish(name="Gone Agent")
    uninstall(stack, stack.install(workspace_id, gone["agentId"], ["text.read"]))
    return workspace_id


def update(stack: Stack, installation: Json, status: str) -> None:
    reply = stack.caller.patch(address(installation), {"status": status})
    assert reply.status == 200, reply.body


def uninstall(stack: Stack, installation: Json) -> None:
    reply = stack.caller.delete(address(installation))
    assert reply.status == 200, reply.body


def installations(stack: Stack, workspace_id: str) -> list[Any]:
    listed: list[Any] = stack.caller.get(f"/v1/workspaces/{workspace_id}/installations?limit=100").json["items"]
    return listed


def address(installation: Json) -> str:
    return f"/v1/workspaces/{installation['workspaceId']}/installations/{installation['installationId']}"
