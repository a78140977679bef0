"""What ends together with a token, where and when it is refused, and how much a principal may make."""

import asyncio
from functools import partial

import asyncpg
import pytest

from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.identities import Holder, operators_session, redeem, signed_in
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.settings import control_plane_environment
from tests.support.units import running
from tests.support.waiting import patience

TOKENS = "/v1/me/tokens"
WAITING = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
UNKNOWN = "tok_0192f0c0c0de7000a000000000000001"


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
        now = asyncio.get_running_loop().time
        revoked = now()
        assert {await session.status() for _ in range(20)} == {401}
        await asyncio.gather(*asking)
        assert await session.status() == 401
        async with patience():
            asked = now()
            while await there.status() != 401:
                assert asked - revoked < 5
                await asyncio.sleep(0.1)
                asked = now()
        require_error(await session.ask("DELETE", "/v1/me/token"), 401, "UNAUTHENTICATED", "2")


@pytest.mark.second_ring
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


@pytest.mark.second_ring
@pytest.mark.rows("REAS-01")
async def test_nobody_fills_the_table(holder: Holder, stores: DatabaseUrls, postgres: PostgresForTests) -> None:
    session = await operators_session(holder.gateway, stores)  # not counted: the operator made it
    replies = await all_answered([partial(holder.ask, "POST", TOKENS, {"label": "many"})] * 60)
    replies += await all_answered([partial(holder.ask, "POST", "/v1/me/sign-in-codes")] * 60)
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


@pytest.mark.second_ring
async def test_a_principal_that_makes_many_at_once_takes_one_connection_and_leaves_the_rest(
    holder: Holder, bob: str, stores: DatabaseUrls
) -> None:
    watcher = await asyncpg.connect(stores.migration)
    make = partial(holder.ask, "POST", TOKENS, {"label": "many"})
    making = [asyncio.create_task(make()) for _ in range(90)]
    try:
        waiting = 0
        while not all(task.done() for task in making):
            assert (await holder.gateway.get("/v1/me", token=bob)).status == 200
            waiting = max(waiting, await watcher.fetchval(WAITING))
        assert {(await task).status for task in making} == {201}
        assert waiting <= 1
    finally:
        await watcher.close()


@pytest.mark.second_ring
async def test_nothing_made_at_the_moment_of_a_revocation_survives_it(holder: Holder) -> None:
    for _ in range(5):
        maker, record = await holder.make()
        code = await maker.code()
        replies = await all_answered(
            [
                *[partial(maker.ask, "POST", TOKENS, {"label": "late"})] * 4,
                partial(redeem, holder.gateway, code),
                partial(holder.ask, "DELETE", f"{TOKENS}/{record['tokenId']}"),
                *[partial(maker.ask, "POST", "/v1/me/sign-in-codes")] * 2,
            ]
        )
        for reply in replies:
            assert reply.status in {200, 201, 401}
            for made in (reply.json.get("token"),):
                assert made is None or await Holder(holder.gateway, made).status() == 401
            if "code" in reply.json and reply.status == 201:
                assert (await redeem(holder.gateway, reply.json["code"])).status == 401
