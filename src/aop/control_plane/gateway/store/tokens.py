"""SQL of access tokens, and how a token ends together with all that was made with it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from aop.contracts.sign_in import TokenMaker
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import Row, to_row_or_none, to_rows

_QUERIES: Final = queries_beside(__file__)

USE_STEP = timedelta(minutes=10)
_COLUMNS = "token_id, principal_id, label, created_at, expires_at, made_by, origin, ends_with, revoked_at, last_used_at"


class TokenOrigin(StrEnum):
    """Whose word a token goes back to, whatever was made with what since then."""

    OPERATOR = "operator"
    OPENID = "openid"


class TokenRecord(Row, frozen=True):
    """A token without its text."""

    token_id: str
    principal_id: str
    label: str
    created_at: datetime
    expires_at: datetime
    made_by: TokenMaker = TokenMaker.OPERATOR
    origin: TokenOrigin = TokenOrigin.OPERATOR
    ends_with: str | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def is_operators_session(self) -> bool:
        """Whether its code was made with store access; what it makes may outlive it."""
        return self.made_by is TokenMaker.CODE and self.origin is TokenOrigin.OPERATOR and self.ends_with is None


class UnrevokedToken(Row, frozen=True):
    digest: bytes
    token_id: str
    principal_id: str
    expires_at: datetime
    origin: TokenOrigin
    last_used_at: datetime | None


async def insert_token(connection: Connection, token: TokenRecord, digest: bytes) -> None:
    await connection.execute(
        "INSERT INTO gateway.access_token"  # noqa: S608
        f" ({_COLUMNS}, token_sha256) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        *msgspec.structs.astuple(token),
        digest,
    )


async def unrevoked_tokens(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, UnrevokedToken]:
    records = await connection.fetch(
        "SELECT token_sha256, token_id, principal_id, expires_at, origin, last_used_at FROM gateway.access_token"
        " WHERE token_sha256 = ANY($1) AND revoked_at IS NULL",
        digests,
    )
    return {token.digest: token for token in to_rows(UnrevokedToken, records)}


async def note_use(connection: Connection, token_id: str, now: datetime) -> None:
    """Writes at most every ten minutes, so that a read with a token stays a read."""
    await connection.execute(
        "UPDATE gateway.access_token SET last_used_at = $2"
        " WHERE token_id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)",
        token_id,
        now,
        now - USE_STEP,
    )


async def token(connection: Connection, token_id: str) -> TokenRecord | None:
    query = f"SELECT {_COLUMNS} FROM gateway.access_token WHERE token_id = $1"  # noqa: S608
    return to_row_or_none(TokenRecord, await connection.fetchrow(query, token_id))


async def all_tokens(connection: Connection) -> Sequence[TokenRecord]:
    records = await connection.fetch(
        f"SELECT {_COLUMNS} FROM gateway.access_token ORDER BY created_at, token_id"  # noqa: S608
    )
    return to_rows(TokenRecord, records)


async def usable_tokens(
    connection: Connection, principal_id: str, now: datetime, after: TimePosition | None, limit: int
) -> Sequence[TokenRecord]:
    """Neither revoked nor expired, newest first."""
    records = await connection.fetch(
        f"SELECT {_COLUMNS} FROM gateway.access_token"  # noqa: S608
        " WHERE principal_id = $1 AND revoked_at IS NULL AND expires_at > $2"
        " AND ($3::timestamptz IS NULL OR created_at < $3 OR (created_at = $3 AND token_id > $4))"
        " ORDER BY created_at DESC, token_id LIMIT $5",
        principal_id,
        now,
        *(after or (None, None)),
        limit,
    )
    return to_rows(TokenRecord, records)


async def usable_operator_token_of(connection: Connection, principal_prefix: str, now: datetime) -> str | None:
    """Returns the id of a usable token that goes back to the operator and whose principal begins so."""
    token_id: str | None = await connection.fetchval(
        "SELECT token_id FROM gateway.access_token WHERE starts_with(principal_id, $1) AND origin = 'operator'"
        " AND revoked_at IS NULL AND expires_at > $2 ORDER BY created_at LIMIT 1",
        principal_prefix,
        now,
    )
    return token_id


async def lock_principal(connection: Connection, principal_id: str) -> None:
    """Until the transaction ends, no other one makes or revokes anything of this principal."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", principal_id)


async def revoke(connection: Connection, token_id: str, now: datetime) -> Sequence[bytes]:
    """Ends a token and all that ends with it, in a transaction that locked its principal; the digests of all of them.

    The codes come first. A code that is redeemed at this moment is waited for; the second statement then sees its
    session. Revoking twice keeps the first time.
    """
    await connection.execute(_QUERIES["revoke_codes"], token_id, now)
    ended = await connection.fetch(_QUERIES["revoke_tokens"], token_id, now)
    return [digest for (digest,) in ended]
