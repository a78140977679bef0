"""Sign-in codes: redeemed once, for ten minutes, by one conditional statement; nothing of them is kept in clear."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest

from aop.control_plane.app import ControlPlaneEnvironment, build
from aop.control_plane.gateway.sign_in import make_operators_code
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.identities import Holder, redeem, signed_in
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.openid import Issuer, gateway_with
from tests.support.settings import control_plane_environment
from tests.support.units import Reply, RunningUnit, running

SIGN_IN = "/v1/sign-in"
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


def require_refused(reply: Reply) -> None:
    require_error(reply, 401, "UNAUTHENTICATED", "2", "sign_in_code")
    assert reply.header("www-authenticate") == "Bearer"


@pytest.mark.rows("CALL-04")
async def test_a_code_signs_in_once_as_its_principal(gateway: RunningUnit, alice: str, stores: DatabaseUrls) -> None:
    operators = (await make_operators_code(stores.control_plane, "carol")).code.reveal()
    for code, principal in ((await Holder(gateway, alice).code(), "alice"), (operators, "carol")):
        # Whoever is signed in already plays no part.
        first = await gateway.post(SIGN_IN, {"code": code}, token=alice)
        assert (first.status, first.json["principalId"]) == (201, principal)
        assert first.header("cache-control") == "no-store"
        assert (await gateway.get("/v1/me", token=first.json["token"])).json == {"principalId": principal}
        require_refused(await redeem(gateway, code))


@pytest.mark.rows("CALL-04")
async def test_codes_sessions_and_what_they_may_make_end_in_time(stores: DatabaseUrls) -> None:
    moment = BEGIN
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1"
        )
    )
    async with running(lambda: build(settings, ControlPlaneEnvironment(clock=lambda: moment))) as gateway:
        codes = [
            (await make_operators_code(stores.control_plane, "alice", lambda: BEGIN)).code.reveal() for _ in range(2)
        ]
        moment = BEGIN + timedelta(minutes=10) - timedelta(microseconds=1)
        session = await signed_in(gateway, codes[0])
        moment = BEGIN + timedelta(minutes=10)
        require_refused(await redeem(gateway, codes[1]))
        # A code made late in a session ends with it, and so does the session that it gives.
        moment = BEGIN + timedelta(hours=12, minutes=5)
        nested, late = await signed_in(gateway, await session.code()), await session.code()
        ends = (await session.own_record())["expiresAt"]
        assert (await nested.own_record())["expiresAt"] == ends
        moment = datetime.fromisoformat(ends)
        assert (await session.status(), await nested.status()) == (401, 401)
        require_refused(await redeem(gateway, late))


@pytest.mark.rows("CALL-09")
async def test_of_fifty_redemptions_at_once_one_wins(gateway: RunningUnit, alice: str) -> None:
    holder = Holder(gateway, alice)
    for _ in range(3):
        before, code = len(await holder.tokens()), await holder.code()
        replies = await all_answered([partial(redeem, gateway, code)] * 50)
        assert [reply.status for reply in replies].count(201) == 1
        for reply in replies:
            if reply.status == 503:
                require_error(reply, 503, "OVERLOADED", "2")
            elif reply.status != 201:
                require_refused(reply)
        assert len(await holder.tokens()) == before + 1


@pytest.mark.rows("REAS-01")
async def test_wrong_codes_are_refused_alike_and_what_is_no_request_is_named(gateway: RunningUnit) -> None:
    for code in ("", "x", "A" * 43, "a" * 256, "\0", "ü", "' OR true --"):
        require_refused(await redeem(gateway, code))
    for body, pointer, rule in (
        (b'{"code":"\\ud800"}', "/code", "surrogate"),
        (b"{", "", "json_syntax"),
        ({}, "/code", "required"),
        ({"code": 1}, "/code", "type"),
        ({"code": "x" * 257}, "/code", "maxLength"),
        ({"code": "x", "principalId": "bob"}, "", "additional_member"),
    ):
        reply = await gateway.post(SIGN_IN, body)
        require_error(reply, 400, "VALIDATION_ERROR", "2")
        assert reply.json["violations"] == [{"pointer": pointer, "rule": rule}]
    for large in (b'{"code":"' + b"x" * 16_384 + b'"}', b" " * 1_000_000):
        require_error(await gateway.post(SIGN_IN, large), 413, "PAYLOAD_TOO_LARGE", "2", "body_size")
    require_error(await gateway.post(SIGN_IN + "?code=x", {"code": "x"}), 400, "VALIDATION_ERROR", "2")
    assert (await gateway.get(SIGN_IN)).status == 405


async def test_who_sends_slowly_keeps_nobody_from_signing_in(gateway: RunningUnit, alice: str) -> None:
    head = b"POST /v1/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"
    slow = [await asyncio.open_connection("127.0.0.1", gateway.port) for _ in range(80)]
    try:
        for _, writer in slow:
            writer.write(head)
            await writer.drain()
        assert (await redeem(gateway, await Holder(gateway, alice).code())).status == 201
    finally:
        for _, writer in slow:
            writer.close()


async def test_the_store_holds_only_hashes_and_old_codes_go(gateway: RunningUnit, stores: DatabaseUrls) -> None:
    await make_operators_code(stores.control_plane, "old", lambda: datetime.now(UTC) - timedelta(days=1, minutes=11))
    await make_operators_code(stores.control_plane, "late", lambda: datetime.now(UTC) - timedelta(hours=23))
    made = await make_operators_code(stores.control_plane, "alice")
    assert made.code.reveal() not in repr(made)
    session = await signed_in(gateway, made.code.reveal())
    code = await session.code()
    connection = await asyncpg.connect(stores.control_plane)
    try:
        codes = await connection.fetch("SELECT * FROM gateway.sign_in_code ORDER BY created_at")
        tokens = await connection.fetch("SELECT * FROM gateway.access_token")
    finally:
        await connection.close()
    assert [row["principal_id"] for row in codes] == ["late", "alice", "alice"]
    assert codes[1]["code_sha256"] == hashlib.sha256(made.code.reveal().encode()).digest()
    for secret in (made.code.reveal(), code, session.token):
        assert secret not in repr([dict(row) for row in (*codes, *tokens)])


@pytest.mark.rows("AUTH-05")
async def test_an_operators_code_for_a_principal_of_the_provider_gives_no_way_in(stores: DatabaseUrls) -> None:
    made = await make_operators_code(stores.control_plane, "oidc:alice")
    async with Issuer() as issuer, gateway_with(stores, issuer.port) as gateway:
        session = await signed_in(gateway, made.code.reveal())
        assert await session.status() == 401
