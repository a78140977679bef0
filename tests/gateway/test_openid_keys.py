"""The keys of an OpenID provider: who waits for them, how often they are asked for, and what an outage changes."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aop.control_plane.gateway.oidc.key_set import MAX_WAITING
from aop.local.state import DatabaseUrls
from tests.support.authority import Authority
from tests.support.errors import require_error
from tests.support.openid import (
    Issuer,
    ScriptedMonotonic,
    a_token,
    ed_jwk,
    gateway_with,
)
from tests.support.peers import Received
from tests.support.units import Reply, RunningUnit
from tests.support.waiting import becomes_true, generous

pytestmark = pytest.mark.second_ring


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest.fixture
def monotonic() -> ScriptedMonotonic:
    return ScriptedMonotonic()


@pytest_asyncio.fixture
async def gateway(stores: DatabaseUrls, issuer: Issuer, monotonic: ScriptedMonotonic) -> AsyncIterator[RunningUnit]:
    async with gateway_with(stores, issuer.port, monotonic) as unit:
        yield unit


async def call_with_known_key(gateway: RunningUnit) -> Reply:
    return await gateway.get("/v1/status", token=a_token())


async def call_with_unknown_key(gateway: RunningUnit, number: int = 0) -> Reply:
    return await gateway.get("/v1/status", token=a_token(header={"kid": f"made-up-{number}"}))


async def requested(issuer: Issuer, times: int) -> None:
    async def so_often() -> bool:
        return issuer.requests == times

    await becomes_true(so_often)


async def test_keys_of_a_provider_with_a_private_authority_need_the_file_of_it(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    async with Issuer(authority.server_context("127.0.0.1")) as issuer:
        keys = f"https://127.0.0.1:{issuer.port}/keys"
        async with gateway_with(stores, issuer.port, PLATFORM_OIDC_JWKS_URL=keys) as gateway:
            require_error(await call_with_known_key(gateway), 503, "DEPENDENCY_ERROR", "2")
        trusted = str(authority.roots)
        async with gateway_with(stores, issuer.port, PLATFORM_OIDC_JWKS_URL=keys, PLATFORM_CA_FILE=trusted) as gateway:
            assert (await call_with_known_key(gateway)).status == 200


@pytest.mark.rows("CALL-07")
async def test_callers_with_known_keys_pass_those_who_wait_for_a_silent_provider_together(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    assert (await call_with_known_key(gateway)).status == 200
    monotonic.advance(61)
    issuer.speaks.clear()
    begun = asyncio.get_running_loop().time()
    strangers = [asyncio.create_task(call_with_unknown_key(gateway, number)) for number in range(20)]
    await requested(issuer, 2)
    for reply in await asyncio.gather(*(call_with_known_key(gateway) for _ in range(20))):
        assert reply.status == 200
    assert not any(stranger.done() for stranger in strangers), "the known ones did not wait for the fetch"
    for reply in await asyncio.gather(*strangers):
        require_error(reply, 503, "DEPENDENCY_ERROR", "4")
    # One fetch of 5 s answered all of them. One after the other they would have waited 100 s.
    assert issuer.requests == 2
    assert asyncio.get_running_loop().time() - begun < generous(6)
    require_error(await call_with_unknown_key(gateway), 503, "DEPENDENCY_ERROR", "4")
    assert (issuer.requests, (await call_with_known_key(gateway)).status) == (2, 200)


@pytest.mark.rows("CALL-07")
async def test_without_any_key_all_callers_share_one_fetch_and_its_answer(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    issuer.speaks.clear()
    callers = [asyncio.create_task(call_with_known_key(gateway)) for _ in range(10)]
    leaving = asyncio.create_task(call_with_known_key(gateway))
    await requested(issuer, 1)
    leaving.cancel()
    monotonic.advance(2)  # longer than the pause after an outage, and the fetch still runs
    callers += [asyncio.create_task(call_with_known_key(gateway)) for _ in range(10)]
    await asyncio.wait(callers, timeout=0.2)
    issuer.speaks.set()
    assert {reply.status for reply in await asyncio.gather(*callers)} == {200}
    assert issuer.requests == 1


async def test_a_new_key_of_the_provider_is_found_and_made_up_ones_ask_at_most_once_a_minute(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    assert (await call_with_known_key(gateway)).status == 200
    for number in range(50):
        require_error(await call_with_unknown_key(gateway, number), 401, "UNAUTHENTICATED", "4")
    assert issuer.requests == 1
    issuer.keys.append(ed_jwk("made-up-0"))
    monotonic.advance(61)
    assert (await call_with_unknown_key(gateway)).status == 200
    for number in range(1, 50):
        assert (await call_with_unknown_key(gateway, number)).status == 401
    assert issuer.requests == 2


async def test_old_keys_are_used_while_they_are_renewed(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    assert (await call_with_known_key(gateway)).status == 200
    monotonic.advance(500)
    issuer.speaks.clear()
    assert (await call_with_known_key(gateway)).status == 200
    await requested(issuer, 2)
    assert (await call_with_known_key(gateway)).status == 200
    issuer.keys = []
    issuer.speaks.set()

    async def refused() -> bool:
        return (await call_with_known_key(gateway)).status == 401

    await becomes_true(refused)  # the renewal has taken the key away


async def test_keys_that_cannot_be_renewed_are_used_for_ten_minutes_and_no_longer(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    assert (await call_with_known_key(gateway)).status == 200
    issuer.status = 500
    monotonic.advance(590)
    assert (await call_with_known_key(gateway)).status == 200
    await requested(issuer, 2)
    monotonic.advance(11)
    require_error(await call_with_known_key(gateway), 503, "DEPENDENCY_ERROR", "4")
    issuer.status = 200
    monotonic.advance(1)
    assert (await call_with_known_key(gateway)).status == 200


async def test_the_provider_is_asked_again_a_second_after_an_outage(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    issuer.status = 500
    for _ in range(5):
        assert (await call_with_known_key(gateway)).status == 503
    assert issuer.requests <= 2  # a slow machine may need more than the second for five calls
    issuer.status = 200
    monotonic.advance(1)
    assert (await call_with_known_key(gateway)).status == 200


async def test_a_key_set_that_is_too_large_or_none_is_an_outage(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    key_sets: list[Any] = [[ed_jwk(str(number)) for number in range(257)], ["x" * 300_000], {"ed": ed_jwk("ed")}]
    for keys in key_sets:
        issuer.keys = keys
        monotonic.advance(1)
        require_error(await call_with_known_key(gateway), 503, "DEPENDENCY_ERROR", "4")


async def test_a_key_set_with_a_member_named_twice_is_an_outage(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    key = json.dumps(ed_jwk("ed", alg="EdDSA"))
    for twice in (key.replace('"alg"', '"alg": "PS256", "alg"'), key.replace('"kid"', '"kid": "ed", "kid"')):

        async def serve(received: Received, twice: str = twice) -> None:
            await received.answer(b'{"keys": [%b]}' % twice.encode(), 200)

        issuer.does = serve
        monotonic.advance(1)
        require_error(await call_with_known_key(gateway), 503, "DEPENDENCY_ERROR", "4")


async def test_only_so_many_wait_for_the_key_set(
    gateway: RunningUnit, issuer: Issuer, monotonic: ScriptedMonotonic
) -> None:
    issuer.speaks.clear()
    callers = [asyncio.create_task(call_with_known_key(gateway)) for _ in range(MAX_WAITING + 8)]
    for done in islice(asyncio.as_completed(callers), 8):
        require_error(await done, 503, "OVERLOADED", "4")
    issuer.speaks.set()
    statuses = [reply.status for reply in await asyncio.gather(*callers)]
    assert (statuses.count(200), statuses.count(503), issuer.requests) == (MAX_WAITING, 8, 1)
    monotonic.advance(61)
    require_error(await call_with_unknown_key(gateway), 401, "UNAUTHENTICATED", "4")  # there is room to wait again
