"""A principal's own tokens: who it is, what it may make, how long that lives, and what ends together."""

from datetime import datetime, timedelta

import pytest

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.identities import Holder, operators_session, signed_in
from tests.support.errors import require_error
from tests.support.openid import Issuer, gateway_with
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running

TOKENS = "/v1/me/tokens"


def life(record: dict[str, str]) -> timedelta:
    return datetime.fromisoformat(record["expiresAt"]) - datetime.fromisoformat(record["createdAt"])


async def test_a_caller_reads_whom_its_token_stands_for(holder: Holder, openid: Holder) -> None:
    assert (await holder.ask("GET", "/v1/me")).json == {"principalId": "alice"}
    assert (await openid.ask("GET", "/v1/me")).json == {"principalId": "oidc:alice"}


async def test_the_list_shows_own_tokens_that_can_be_used_and_says_who_made_each(
    holder: Holder, bob: str, stores: DatabaseUrls
) -> None:
    made, record = await holder.make("laptop", days=1)
    session = await signed_in(holder.gateway, await holder.code())
    await operators_session(holder.gateway, stores)
    dead, _ = await holder.make("dead")
    await dead.ask("DELETE", "/v1/me/token")
    found = await holder.tokens()
    first = await holder.own_record()
    assert [(one["madeBy"], one["label"], one.get("endsWith"), one["current"]) for one in found] == [
        ("code", "", None, False),
        ("code", "", first["tokenId"], False),
        ("token", "laptop", first["tokenId"], False),
        ("operator", "", None, True),
    ]
    assert record["tokenId"] == found[2]["tokenId"]
    assert "lastUsedAt" in found[3]
    assert "lastUsedAt" not in found[2]
    assert (await made.status(), await session.status(), await dead.status()) == (200, 200, 401)
    assert [one["madeBy"] for one in await Holder(holder.gateway, bob).tokens()] == ["operator"]


async def test_the_list_comes_in_pages_newest_first(holder: Holder) -> None:
    labels = [f"number {number}" for number in range(5)]
    for label in labels:
        await holder.make(label)
    seen, path = [], f"{TOKENS}?limit=2"
    while path:
        page = (await holder.ask("GET", path)).json
        seen += [one["label"] for one in page["items"]]
        path = f"{TOKENS}?limit=2&cursor={page['nextCursor']}" if "nextCursor" in page else ""
    assert seen == [*reversed(labels), ""]


@pytest.mark.parametrize(
    ("body", "pointer", "rule"),
    [
        ({}, "/label", "required"),
        ({"label": " "}, "/label", "pattern"),
        ({"label": "x" * 129}, "/label", "maxLength"),
        ({"label": "\0"}, "/label", "pattern"),
        ({"label": "x", "days": 0}, "/days", "minimum"),
        ({"label": "x", "days": 3651}, "/days", "maximum"),
        ({"label": "x", "days": "1"}, "/days", "type"),
        ({"label": "x", "principalId": "bob"}, "", "additional_member"),
    ],
)
async def test_a_request_that_is_not_as_described_makes_nothing(
    holder: Holder, body: object, pointer: str, rule: str
) -> None:
    reply = await holder.ask("POST", TOKENS, body)
    require_error(reply, 400, "VALIDATION_ERROR", "2")
    assert {"pointer": pointer, "rule": rule} in reply.json["violations"]
    assert len(await holder.tokens()) == 1


async def test_a_token_expires_no_later_than_the_token_it_was_made_with(
    stores: DatabaseUrls, gateway: RunningUnit
) -> None:
    issued = await issue_token(stores.control_plane, "alice", days=3)
    maker = Holder(gateway, issued.token.reveal())
    own = (await maker.own_record())["expiresAt"]
    short, record = await maker.make(days=1)
    assert life(record) == timedelta(days=1)
    for days in (None, 4, 3650, 30.0):
        assert (await maker.make(days=days))[1]["expiresAt"] == own
    assert (await short.make(days=3))[1]["expiresAt"] == record["expiresAt"]


async def test_what_the_operators_session_and_openid_callers_make_lives_a_set_time_and_stands_alone(
    stores: DatabaseUrls, openid: Holder
) -> None:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane,
            PLATFORM_ACCESS_TOKEN_DAYS="7",
            PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        )
    )
    async with running(lambda: build(settings)) as gateway:
        session = await operators_session(gateway, stores)
        assert life(await session.own_record()) == timedelta(hours=12)
        lasting, record = await session.make(days=3650)
        assert (life(record), record["madeBy"], "endsWith" in record) == (timedelta(days=7), "token", False)
        bound, _ = await lasting.make()
        assert (await session.ask("DELETE", "/v1/me/token")).status == 200
        assert [await one.status() for one in (session, lasting, bound)] == [401, 200, 200]
    for days, expected in ((None, 90), (91, 90), (2, 2)):
        _, record = await openid.make(days=days)
        assert (life(record).days, record["madeBy"], "endsWith" in record) == (expected, "openid", False)


async def test_what_openid_callers_make_keeps_their_principal_and_lets_the_next_start_pass(
    openid: Holder, stores: DatabaseUrls
) -> None:
    made, _ = await openid.make()
    bound, _ = await made.make()
    session = await signed_in(openid.gateway, await openid.code())
    later = await signed_in(openid.gateway, await bound.code())
    for holder in (made, bound, session, later):
        assert (await holder.ask("GET", "/v1/me")).json == {"principalId": "oidc:alice"}
    assert life(await session.own_record()) == timedelta(hours=12)
    _, record = await session.make(days=90)
    assert record["expiresAt"] == (await session.own_record())["expiresAt"]
    async with Issuer() as issuer, gateway_with(stores, issuer.port) as again:
        assert (await again.get("/v1/me", token=made.token)).status == 200
