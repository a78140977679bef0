"""Who may come in to A2A at the door, and what the agent card shows to those who may."""

import pytest

from interop.door import HELLO
from tests.door.a2a.reading import ask, params, rpc, token_of
from tests.support.door_agents import A2AAgents
from tests.support.loop import SPACE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("DOOR-05")
@pytest.mark.parametrize("part", ["", "/.well-known/agent-card.json", "/.well-known/agent.json"])
async def test_who_may_not_come_in_is_refused_as_the_gateway_refuses(agents: A2AAgents, part: str) -> None:
    door, platform = agents.door.unit, agents.door.platform
    path = agents.chat.removeprefix(door.origin)
    nowhere = path.replace(f"/{SPACE}/", "/nowhere/")

    async def answers(path: str, token: str | None) -> tuple[int, str, str | None]:
        body = None if part else rpc("message/send", params(HELLO))
        reply = await door.ask("GET" if part else "POST", path + part, body, token=token)
        assert set(reply.json) <= {"code", "message", "reason", "traceId"}
        return reply.status, reply.code, reply.json.get("reason")

    recorded = await platform.recorded()
    assert await answers(path, None) == (401, "UNAUTHENTICATED", None)
    assert await answers(path, "foreign") == (401, "UNAUTHENTICATED", None)
    stranger = await token_of(agents, "bob")
    theirs = await platform.gateway.get(f"/v1/workspaces/{SPACE}", token=stranger)
    assert await answers(path, stranger) == (theirs.status, theirs.code, theirs.json.get("reason"))
    assert await answers(nowhere, platform.token) == (404, "NOT_FOUND", "workspace_unknown")
    assert await platform.recorded() == recorded


@pytest.mark.rows("DOOR-05")
@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/resubscribe", "no/such"])
async def test_not_even_an_error_of_the_protocol_is_told_to_a_stranger(agents: A2AAgents, method: str) -> None:
    reply = await ask(agents, agents.chat, method, {"id": "inv_1"}, token="foreign")
    assert (reply.status, reply.code) == (401, "UNAUTHENTICATED")


@pytest.mark.rows("CALL-01", "DOOR-05")
async def test_a_caller_of_the_workspace_calls_its_agents_until_it_is_removed(agents: A2AAgents) -> None:
    owner, token = agents.door.platform.owner, await token_of(agents, "carol")
    message = params(HELLO)
    assert (await ask(agents, agents.chat, "message/send", message, token=token)).json["reason"] == "not_caller"
    await owner.add_caller("carol", SPACE)
    assert "result" in (await ask(agents, agents.chat, "message/send", message, token=token)).json
    await owner.remove_caller("carol", SPACE)
    refused = await ask(agents, agents.chat, "message/send", message, token=token)
    assert (refused.status, refused.json["reason"]) == (403, "not_caller")


@pytest.mark.rows("DOOR-01")
async def test_the_card_has_the_form_of_the_version_and_never_the_address_of_the_agent(agents: A2AAgents) -> None:
    door = agents.door.unit
    path = agents.typed.removeprefix(door.origin)
    seen = {}
    for version in (None, "0.3", "1.0", "7.0"):
        headers = [] if version is None else [(b"a2a-version", version.encode())]
        cards = [
            await door.ask("GET", path + place, token=agents.door.platform.token, headers=headers)
            for place in ("/.well-known/agent-card.json", "/.well-known/agent.json")
        ]
        assert cards[0].json == cards[1].json
        assert str(agents.door.platform.agent.port) not in cards[0].body.decode()
        seen[version] = cards[0].json
    assert seen["0.3"]["url"] == agents.typed
    assert seen["0.3"]["securitySchemes"]["platform"]["scheme"] == "bearer"
    assert "supportedInterfaces" not in seen["0.3"]
    assert [(one["url"], one["protocolVersion"]) for one in seen["1.0"]["supportedInterfaces"]] == [
        (agents.typed, "1.0"),
        (agents.typed, "0.3"),
    ]
    assert "url" not in seen["1.0"]
    assert seen[None] == seen["7.0"]
    assert seen[None].keys() == seen["0.3"].keys() | seen["1.0"].keys()
    assert [skill["id"] for skill in seen[None]["skills"]] == ["typed", "chat"]
