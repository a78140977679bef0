"""A principal's own tokens: who it is, what it may make, how long that lives, and what ends together."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
import pytest_asyncio

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.identities import Holder, operators_session, redeem, signed_in
from tests.support.errors import require_error
from tests.support.openid import Issuer, a_token, gateway_with
from tests.support.postgres import PostgresForTests
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running
from tests.support.waiting import patience

TOKENS = "/v1/me/tokens"
UNKNOWN = "tok_0192f0c0c0de7000a000000000000001"


@pytest.fixture
def holder(gateway: RunningUnit, alice: str) -> Holder:
    return Holder(gateway, alice)


@pytest_asyncio.fixture
async def openid(stores: DatabaseUrls) -> AsyncIterator[Holder]:
    """A caller of the OpenID provider; its principal is oidc:alice."""
    async with Issuer() as issuer, gateway_with(stores, issuer.port) as gateway:
        yield Holder(gateway, a_token(sub="alice"))


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


@pytest.mark.rows("CALL-08")
async def test_with_a_token_ends_all_that_was_made_with_it(holder: Holder, bob: str) -> None:
    maker, record = await holder.make("maker")
    first, _ = await maker.make("first")
    second, _ = await maker.make("second")
    deep, _ = await first.make("deep")
    session = await signed_in(holder.gateway, await second.code())
    codes = [await maker.code(), await deep.code(), await session.code()]
    others = Holder(holder.gateway, bob)
    kept = await others.code()
    for one in (maker, first, second, deep, session):  # so that this process has cached them
        assert await one.status() == 200
    revoked = await holder.ask("DELETE", f"{TOKENS}/{record['tokenId']}")
    assert (revoked.status, "revokedAt" in revoked.json) == (200, True)
    for one in (maker, first, second, deep, session):
        require_error(await one.ask("GET", "/v1/me"), 401, "UNAUTHENTICATED", "2")
    for code in codes:
        require_error(await redeem(holder.gateway, code), 401, "UNAUTHENTICATED", "2", "sign_in_code")
    assert [one["label"] for one in await holder.tokens()] == [""]
    assert (await redeem(holder.gateway, kept)).status == 201
    again = await holder.ask("DELETE", f"{TOKENS}/{record['tokenId']}")
    assert (again.status, again.json["revokedAt"]) == (200, revoked.json["revokedAt"])


@pytest.mark.rows("CALL-06")
async def test_a_revoked_token_is_refused_at_once_here_and_within_five_seconds_elsewhere(
    holder: Holder, stores: DatabaseUrls
) -> None:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1"
        )
    )
    session, _ = await holder.make()
    async with running(lambda: build(settings)) as elsewhere:
        there = Holder(elsewhere, session.token)
        assert (await session.status(), await there.status()) == (200, 200)
        asking = [asyncio.create_task(session.status()) for _ in range(20)]
        assert (await session.ask("DELETE", "/v1/me/token")).status == 200
        revoked = asyncio.get_running_loop().time()
        assert {await session.status() for _ in range(20)} == {401}
        await asyncio.gather(*asking)
        assert await session.status() == 401
        async with patience():
            while await there.status() != 401:
                assert asyncio.get_running_loop().time() - revoked < 5
                await asyncio.sleep(0.1)
        require_error(await session.ask("DELETE", "/v1/me/token"), 401, "UNAUTHENTICATED", "2")


@pytest.mark.rows("REAS-01")
async def test_ids_of_others_are_not_found_and_a_token_of_the_provider_cannot_be_revoked_here(
    holder: Holder, bob: str, openid: Holder
) -> None:
    own = (await holder.own_record())["tokenId"]
    for token_id in (own, UNKNOWN, "alice"):
        reply = await holder.gateway.ask("DELETE", f"{TOKENS}/{token_id}", token=bob)
        require_error(reply, 404, "NOT_FOUND", "2", "token_unknown")
    require_error(await holder.ask("DELETE", f"{TOKENS}/%20"), 400, "VALIDATION_ERROR", "2")
    refused = await openid.ask("DELETE", "/v1/me/token")
    require_error(refused, 409, "CONFLICT", "2", "token_of_openid_provider")
    assert (await holder.status(), await openid.status()) == (200, 200)


@pytest.mark.rows("REAS-01")
async def test_nobody_fills_the_table(holder: Holder, stores: DatabaseUrls, postgres: PostgresForTests) -> None:
    session = await operators_session(holder.gateway, stores)  # not counted: the operator made it
    replies = await asyncio.gather(*(holder.ask("POST", TOKENS, {"label": "many"}) for _ in range(60)))
    replies += await asyncio.gather(*(holder.ask("POST", "/v1/me/sign-in-codes") for _ in range(60)))
    refused = [reply for reply in replies if reply.status != 201]
    assert [reply.status for reply in replies].count(201) == 100
    for reply in refused:
        require_error(reply, 409, "CONFLICT", "2", "token_limit")
    codes = [reply.json["code"] for reply in replies if reply.status == 201 and "code" in reply.json]
    assert (await redeem(holder.gateway, codes[0])).status == 201  # a code counts until then, its session from then on
    require_error(await session.ask("POST", "/v1/me/sign-in-codes"), 409, "CONFLICT", "2", "token_limit")
    ended = next(one["tokenId"] for one in await holder.tokens() if one["label"] == "many")
    await holder.ask("DELETE", f"{TOKENS}/{ended}")
    await holder.make("again")
    database = stores.control_plane.rpartition("/")[2]
    await postgres.execute(
        "INSERT INTO gateway.sign_in_code SELECT sha256(n::text::bytea), 'bob', 'openid', 'openid', NULL, NULL,"
        " now() - interval '23 hours', now() - interval '22 hours', now(), NULL FROM generate_series(1, 500) AS n",
        database,
    )
    bob = Holder(holder.gateway, (await issue_token(stores.control_plane, "bob")).token.reveal())
    require_error(await bob.ask("POST", "/v1/me/sign-in-codes"), 409, "CONFLICT", "2", "token_limit")


async def test_nothing_made_at_the_moment_of_a_revocation_survives_it(holder: Holder) -> None:
    for _ in range(5):
        maker, record = await holder.make()
        code = await maker.code()
        replies = await asyncio.gather(
            *(maker.ask("POST", TOKENS, {"label": "late"}) for _ in range(4)),
            redeem(holder.gateway, code),
            holder.ask("DELETE", f"{TOKENS}/{record['tokenId']}"),
            *(maker.ask("POST", "/v1/me/sign-in-codes") for _ in range(2)),
        )
        for reply in replies:
            assert reply.status in {200, 201, 401}
            for made in (reply.json.get("token"),):
                assert made is None or await Holder(holder.gateway, made).status() == 401
            if "code" in reply.json and reply.status == 201:
                assert (await redeem(holder.gateway, reply.json["code"])).status == 401
