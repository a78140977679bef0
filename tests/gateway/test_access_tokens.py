"""Access tokens: form, life, and what the store knows of them."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop.contracts.errors import Unauthenticated
from aop.control_plane.gateway.access import TokenCallers
from aop.control_plane.gateway.tokens import Tokens, is_well_formed, issue_token, new_token_text
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.support.postgres import opened_database, session
from tests.support.units import RunningUnit
from tests.support.waiting import patience

STATUS = "/v1/status"


def test_a_new_token_has_the_form_of_the_contract() -> None:
    text = new_token_text()
    assert len(text) == 47
    assert text.startswith("aop_")
    assert is_well_formed(text)


def test_the_checksum_is_the_crc_of_the_random_part_in_base62() -> None:
    # Worked out apart: CRC-32 of 37 zeros is 3425114580, in base62 3jnQlY.
    assert is_well_formed("aop_" + "0" * 37 + "3jnQlY")


@given(st.integers(4, 46), st.sampled_from("0123456789abcXYZ_-. "))
def test_a_token_with_one_changed_character_is_refused(position: int, character: str) -> None:
    text = new_token_text()
    changed = text[:position] + character + text[position + 1 :]
    assert is_well_formed(changed) == (changed == text)


@pytest.mark.rows("AUTH-01")
async def test_exactly_one_bearer_value_is_needed_and_its_scheme_may_be_in_any_case(
    gateway: RunningUnit, alice: str
) -> None:
    def header(value: str) -> tuple[bytes, bytes]:
        return (b"authorization", value.encode())

    refused = [
        [],
        [header(f"Bearer {alice}"), header(f"Bearer {alice}")],
        [header("")],
        [header("Bearer")],
        [header("Bearer ")],
        [header(f"Bearer  {alice}")],
        [header(f"Bearer {alice} {alice}")],
        [header(f"Basic {alice}")],
        [header(alice)],
    ]
    for headers in refused:
        reply = await gateway.get(STATUS, headers=headers)
        assert (reply.status, reply.code) == (401, "UNAUTHENTICATED"), headers
        assert reply.header("www-authenticate") == "Bearer"
    for scheme in ("bearer", "BEARER", "Bearer"):
        assert (await gateway.get(STATUS, headers=[header(f"{scheme} {alice}")])).status == 200


@pytest.mark.rows("AUTH-02")
async def test_unknown_expired_and_revoked_tokens_are_refused(gateway: RunningUnit, stores: DatabaseUrls) -> None:
    assert (await gateway.get(STATUS, token=new_token_text())).status == 401
    connection = await connect(stores.control_plane, application="test")
    try:
        long_ago = Tokens(connection, lambda: datetime.now(UTC) - timedelta(days=2))
        expired = await long_ago.issue("alice", days=1)
        assert (await gateway.get(STATUS, token=expired.token.reveal())).status == 401
        live = await Tokens(connection).issue("alice")
        assert (await gateway.get(STATUS, token=live.token.reveal())).status == 200
        await Tokens(connection).revoke(live.record.token_id)
    finally:
        await connection.close()
    async with patience():
        while (await gateway.get(STATUS, token=live.token.reveal())).status != 401:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.rows("AUTH-03")
async def test_a_wrong_checksum_is_refused_without_asking_the_store(stores: DatabaseUrls) -> None:
    async with opened_database(stores.control_plane) as database:
        callers = TokenCallers(database)
    good = new_token_text()
    for broken in ("", "aop_", good[:-1], good[:-1] + ("A" if good[-1] != "A" else "B"), good + "A", good.lower()):
        with pytest.raises(Unauthenticated):
            await callers.identify(broken)


@pytest.mark.rows("AUTH-04")
async def test_the_store_holds_only_the_hash_of_a_token(stores: DatabaseUrls) -> None:
    issued = await issue_token(stores.control_plane, "alice", label="laptop", days=3)
    assert issued.token.reveal() not in repr(issued)
    connection = await asyncpg.connect(stores.control_plane)
    try:
        row = await connection.fetchrow("SELECT * FROM gateway.access_token")
    finally:
        await connection.close()
    assert row["token_sha256"] == hashlib.sha256(issued.token.reveal().encode()).digest()
    assert issued.token.reveal() not in repr(row)
    assert (row["principal_id"], row["label"]) == ("alice", "laptop")
    assert row["expires_at"] - row["created_at"] == timedelta(days=3)


async def test_the_use_of_a_token_is_noted_in_steps(stores: DatabaseUrls) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    async with opened_database(stores.control_plane) as database, session(stores.control_plane) as connection:
        issued = await Tokens(connection, lambda: now).issue("alice")
        for minutes, noted in ((0, 0), (9, 0), (10, 10), (15, 10), (21, 21)):
            clock = partial(now.__add__, timedelta(minutes=minutes))
            await TokenCallers(database, clock).identify(issued.token.reveal())
            (record,) = await Tokens(connection).all()
            assert record.last_used_at == now + timedelta(minutes=noted)
