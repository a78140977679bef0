"""SQL of the Gateway's own table: access tokens, stored as digests only."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from aop.store.database import Connection
from aop.store.rows import Row, to_rows

USE_STEP = timedelta(minutes=10)
_COLUMNS = "token_id, principal_id, label, created_at, expires_at, revoked_at, last_used_at"


class TokenRecord(Row, frozen=True):
    """A token without its text."""

    token_id: str
    principal_id: str
    label: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class UnrevokedToken(Row, frozen=True):
    digest: bytes
    token_id: str
    principal_id: str
    expires_at: datetime
    last_used_at: datetime | None


async def insert_token(connection: Connection, token: TokenRecord, digest: bytes) -> None:
    await connection.execute(
        "INSERT INTO gateway.access_token (token_id, principal_id, label, created_at, expires_at, token_sha256)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        token.token_id,
        token.principal_id,
        token.label,
        token.created_at,
        token.expires_at,
        digest,
    )


async def unrevoked_tokens(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, UnrevokedToken]:
    records = await connection.fetch(
        "SELECT token_sha256, token_id, principal_id, expires_at, last_used_at FROM gateway.access_token"
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


async def all_tokens(connection: Connection) -> Sequence[TokenRecord]:
    records = await connection.fetch(
        f"SELECT {_COLUMNS} FROM gateway.access_token ORDER BY created_at, token_id"  # noqa: S608
    )
    return to_rows(TokenRecord, records)


async def usable_token_of(connection: Connection, principal_prefix: str, now: datetime) -> str | None:
    """Returns the id of a token that is neither revoked nor expired and whose principal begins so."""
    token_id: str | None = await connection.fetchval(
        "SELECT token_id FROM gateway.access_token"
        " WHERE starts_with(principal_id, $1) AND revoked_at IS NULL AND expires_at > $2 ORDER BY created_at LIMIT 1",
        principal_prefix,
        now,
    )
    return token_id


async def revoke_token(connection: Connection, token_id: str, now: datetime) -> bool:
    """False when there is no such token; revoking twice keeps the first time."""
    found = await connection.fetchval(
        "UPDATE gateway.access_token SET revoked_at = coalesce(revoked_at, $2) WHERE token_id = $1 RETURNING true",
        token_id,
        now,
    )
    return bool(found)
