"""What is refused before acceptance: nothing recorded, no ids, the Agent never called."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aop.contracts.publication import ReleaseState
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform
from tests.support.units import Reply
from tests.support.vectors import cases

pytestmark = pytest.mark.asyncio(loop_scope="module")
ACCEPT = [case for case in cases("accept") if not (case["stream"] and case["verdict"] == "acceptable")]


@asynccontextmanager
async def nothing_happens(platform: Platform) -> AsyncIterator[int]:
    """Gives the number of records, which must not change; nor may the Agent hear of anything."""
    recorded, heard = await platform.recorded(), len(platform.agent.received)
    yield recorded
    assert (await platform.recorded(), len(platform.agent.received)) == (recorded, heard)


@pytest.mark.rows("INV-03", "INV-04", "INV-05", "DOOR-08")
async def test_accept_decides_before_what_is_installed(platform: Platform) -> None:
    for case in ACCEPT:
        headers = [(b"accept", value.encode()) for value in case["accept"]]
        if case["verdict"] == "acceptable":
            reply = await platform.invoke(headers=headers)
            assert reply.status == 200, (case["name"], reply.body)
            continue
        async with nothing_happens(platform) as recorded:
            # An Agent that nobody knows: 406 shows that this was not looked at.
            reply = await platform.invoke(headers=headers, agentId="nobody:knows", stream=case["stream"])
            await platform.require_refused(reply, 406, "NOT_ACCEPTABLE", recorded)


BROKEN: list[tuple[bytes, list[dict[str, str]]]] = [
    (
        b'{"agentId":"a","capability":"c","input":{},"stream":false,"traceId":"x"}',
        [{"pointer": "", "rule": "additional_member"}],
    ),
    (
        b'{"agentId":"a","capability":"c","input":{"k":{"d":1,"d":2}},"stream":false}',
        [{"pointer": "/input", "rule": "duplicate_member"}],
    ),
    (b'{"agentId":"a","capability":"c","input":[],"stream":false}', [{"pointer": "/input", "rule": "type"}]),
    (b'{"agentId":"a","capability":"c","input":null,"stream":false}', [{"pointer": "/input", "rule": "type"}]),
    (b'{"agentId":"a","capability":"c","input":{}}', [{"pointer": "/stream", "rule": "required"}]),
    (b'{"agentId":"a","capability":"c","input":{},"stream":null}', [{"pointer": "/stream", "rule": "type"}]),
    (b'{"agentId":"a","capability":"c","input":{},"stream":"false"}', [{"pointer": "/stream", "rule": "type"}]),
    (
        b'{"agentId":"a","capability":"c","input":{"x":"\\ud800"},"stream":false}',
        [{"pointer": "/input", "rule": "surrogate"}],
    ),
    (b'{"agentId":"a","capability":"c","input":{},"stream":false} {}', [{"pointer": "", "rule": "trailing_data"}]),
    (b"", [{"pointer": "", "rule": "content_type"}]),
]


@pytest.mark.rows("INV-06")
@pytest.mark.parametrize(("body", "violations"), BROKEN)
async def test_a_body_that_breaks_the_contract_is_refused(
    platform: Platform, body: bytes, violations: list[dict[str, str]]
) -> None:
    async with nothing_happens(platform) as recorded:
        reply = await post(platform, body)
        await platform.require_refused(reply, 400, "VALIDATION_ERROR", recorded)
        assert reply.json["violations"] == violations


@pytest.mark.rows("INV-07")
async def test_a_large_body_is_413_and_a_bad_token_comes_first(platform: Platform) -> None:
    async with nothing_happens(platform) as recorded:
        large = platform.request(b'{"x":"%b"}' % (b"x" * 1_048_576))
        reply = await post(platform, large)
        await platform.require_refused(reply, 413, "PAYLOAD_TOO_LARGE", recorded)
        assert reply.json["reason"] == "body_size"
        require_error(await post(platform, b"{", token="wrong"), 401, "UNAUTHENTICATED", "4")


@pytest.mark.rows("INV-08")
async def test_only_what_is_installed_declared_and_accepted_may_run(platform: Platform) -> None:
    permission = {"id": "mail.send", "description": "Send mail."}
    skills = [
        platform.card["skills"][0],
        {**platform.card["skills"][0], "id": "mail", "requiredPermissions": ["mail.send"]},
    ]
    card, _, installation = await platform.installed(skills=skills, permissions=[permission])
    await platform.owner.uninstall(installation)
    async with nothing_happens(platform) as recorded:
        reply = await platform.invoke(agentId=card["agentId"])
        await platform.require_refused(reply, 404, "AGENT_NOT_INSTALLED", recorded)
        await platform.owner.install(card["agentId"], accepted=[])
        for capability in ("mail", "undeclared"):
            reply = await platform.invoke(agentId=card["agentId"], capability=capability)
            await platform.require_refused(reply, 403, "CAPABILITY_NOT_ALLOWED", recorded)
    assert (await platform.invoke(agentId=card["agentId"])).status == 200


@pytest.mark.rows("INV-09")
@pytest.mark.parametrize(
    ("act", "code"),
    [
        ("installation", "INSTALLATION_DISABLED"),
        ("suspend", "AGENT_RELEASE_SUSPENDED"),
        ("revoke", "AGENT_RELEASE_REVOKED"),
        ("disable", "AGENT_DISABLED"),
        ("disable and suspend", "AGENT_RELEASE_SUSPENDED"),
    ],
)
async def test_what_is_switched_off_does_not_run(platform: Platform, act: str, code: str) -> None:
    card, release, installation = await platform.installed()
    if act == "installation":
        await platform.owner.set_status(installation, "disabled")
    if "disable" in act:
        await platform.catalog.disable(card)
    if "suspend" in act:
        await platform.move(release, ReleaseState.SUSPENDED)
    if act == "revoke":
        await platform.move(release, ReleaseState.REVOKED)
    async with nothing_happens(platform) as recorded:
        await platform.require_refused(await platform.invoke(agentId=card["agentId"]), 409, code, recorded)


@pytest.mark.rows("INV-10", "INV-32")
async def test_input_that_breaks_the_input_schema_is_refused_without_its_values(platform: Platform) -> None:
    schema = {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {"text": {"type": "string", "minLength": 3}, "list": {"items": {"type": "integer"}}},
    }
    card, _, _ = await platform.installed(skills=[{**platform.card["skills"][0], "inputSchema": schema}])
    expected = {
        b"{}": [("/input/text", "required")],
        b'{"text":"\\u2603!"}': [("/input/text", "minLength")],
        b'{"text":"abc","canary":1}': [("/input", "additional_member")],
        b'{"text":"abc","list":[1,"canary"]}': [("/input/list/1", "type")],
    }
    async with nothing_happens(platform) as recorded:
        for content, violations in expected.items():
            reply = await platform.invoke(content, agentId=card["agentId"])
            await platform.require_refused(reply, 400, "VALIDATION_ERROR", recorded)
            assert [(item["pointer"], item["rule"]) for item in reply.json["violations"]] == violations
            assert b"canary" not in reply.body


@pytest.mark.rows("INV-11")
async def test_input_over_the_cards_limit_is_413(platform: Platform) -> None:
    limits = {**platform.card["limits"], "maxInputBytes": 20}
    card, _, _ = await platform.installed(limits=limits)
    content = b'{"x":"0123456789ab"}'
    assert len(content) == 20
    assert (await platform.invoke(content, agentId=card["agentId"])).status == 200
    async with nothing_happens(platform) as recorded:
        reply = await platform.invoke(content.replace(b":", b": "), agentId=card["agentId"])
        await platform.require_refused(reply, 413, "PAYLOAD_TOO_LARGE", recorded)
        assert reply.json["reason"] == "input_size"


@pytest.mark.rows("INV-08")
async def test_only_the_owner_of_an_existing_workspace_may_invoke(platform: Platform, bob: str) -> None:
    async with nothing_happens(platform) as recorded:
        for path, token, code, status in (
            (f"/v1/workspaces/{SPACE}/invocations", bob, "FORBIDDEN", 403),
            ("/v1/workspaces/nowhere/invocations", platform.token, "NOT_FOUND", 404),
            ("/v1/workspaces/.bad/invocations", platform.token, "VALIDATION_ERROR", 400),
        ):
            reply = await platform.gateway.post(path, platform.request(), token=token)
            await platform.require_refused(reply, status, code, recorded)


async def post(platform: Platform, body: bytes, token: str | None = None) -> Reply:
    path = f"/v1/workspaces/{SPACE}/invocations"
    return await platform.gateway.post(path, body, token=token or platform.token)
