"""Access tokens: issued once in plain, known afterwards by their SHA-256 only."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aop.base.clock import Clock, utc_now
from aop.base.ids import new_id
from aop.base.secret import Secret
from aop.base.settings import Problem, SettingsRefused
from aop.contracts.errors import Unauthenticated
from aop.control_plane.gateway import store
from aop.control_plane.gateway.token_text import is_well_formed, new_token_text
from aop.control_plane.settings import OIDC_PRINCIPAL_PREFIX
from aop.store.database import Connection, Database, connect, translated_failures
from aop.store.grouped_reads import GroupedReads

DEFAULT_DAYS = 90
# A revocation must work within 5 s; half of that leaves room for the clocks of several replicas.
_REMEMBERED_SECONDS = 2.5
_REMEMBERED_MOST = 10_000


@dataclass(frozen=True)
class TokenRecord:
    """Everything known of a token but the token."""

    token_id: str
    principal_id: str
    label: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True)
class IssuedToken:
    record: TokenRecord
    token: Secret


class Tokens:
    """The operator's acts on tokens, on one connection."""

    def __init__(self, connection: Connection, clock: Clock = utc_now) -> None:
        self._connection = connection
        self._clock = clock

    async def issue(self, principal: str, label: str = "", days: int = DEFAULT_DAYS) -> IssuedToken:
        text, now = new_token_text(), self._clock()
        record = TokenRecord(new_id("tok"), principal, label, now, now + timedelta(days=days))
        values = (record.token_id, principal, label, record.created_at, record.expires_at)
        async with translated_failures():
            await store.insert_token(self._connection, digest=token_digest(text), values=values)
        return IssuedToken(record, Secret(text))

    async def all(self) -> Sequence[TokenRecord]:
        async with translated_failures():
            return [TokenRecord(**row) for row in await store.all_tokens(self._connection)]

    async def revoke(self, token_id: str) -> bool:
        async with translated_failures():
            return await store.revoke_token(self._connection, token_id, self._clock())


class TokenCallers:
    """Finds the principal of a token; an answer of the store is remembered for a moment, a refusal never.

    No token of ours stands for a principal of the OpenID provider, whose prefix is reserved.
    """

    def __init__(self, database: Database, clock: Clock = utc_now, reserved_prefix: str | None = None) -> None:
        self._database = database
        self._clock = clock
        self._reserved_prefix = reserved_prefix
        self._rows: GroupedReads[bytes, Any] = GroupedReads(database, store.unrevoked_tokens)
        self._remembered: dict[bytes, tuple[str, float, datetime]] = {}

    async def identify(self, text: str) -> str:
        if not is_well_formed(text):
            raise Unauthenticated("token form or checksum")
        digest = token_digest(text)
        known = self._remembered.get(digest)
        now = asyncio.get_running_loop().time()
        if known is not None and now < known[1] and self._clock() < known[2]:
            return known[0]
        return await self._ask(digest, now)

    async def close(self) -> None:
        await self._rows.close()

    async def _ask(self, digest: bytes, now: float) -> str:
        moment, row = self._clock(), await self._rows.get(digest)
        if row is None or row["expires_at"] <= moment:
            self._remembered.pop(digest, None)
            raise Unauthenticated("unknown, expired or revoked token")
        if self._reserved_prefix is not None and row["principal_id"].startswith(self._reserved_prefix):
            raise Unauthenticated("its principal is one of the OpenID provider")
        if row["last_used_at"] is None or row["last_used_at"] <= moment - store.USE_STEP:
            async with self._database.connection() as connection:
                await store.note_use(connection, row["token_id"], moment)
        if len(self._remembered) >= _REMEMBERED_MOST:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[digest] = (row["principal_id"], now + _REMEMBERED_SECONDS, row["expires_at"])
        return str(row["principal_id"])


async def require_reserved(connection: Connection, prefix: str, now: datetime) -> None:
    """Refuses the prefix of the OpenID provider's principals while a usable token of ours has such a principal."""
    token_id = await store.usable_token_of(connection, prefix, now)
    if token_id is not None:
        reason = f"begins the principal of {token_id}: revoke it (aop token revoke {token_id}) or choose another prefix"
        raise SettingsRefused([Problem(OIDC_PRINCIPAL_PREFIX, reason)])


def token_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()


async def issue_token(database_url: str, principal: str, *, label: str = "", days: int = DEFAULT_DAYS) -> IssuedToken:
    connection = await connect(database_url, application="aop token")
    try:
        return await Tokens(connection).issue(principal, label, days)
    finally:
        await connection.close()
