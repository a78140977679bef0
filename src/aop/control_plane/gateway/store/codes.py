"""SQL of sign-in codes, and how many tokens and codes callers made."""

from datetime import datetime, timedelta

import msgspec

from aop.contracts.sign_in import TokenMaker
from aop.control_plane.gateway.store.tokens import TokenOrigin
from aop.store.database import Connection
from aop.store.rows import Row, to_row, to_row_or_none

DAY = timedelta(days=1)
_REMOVED_AT_ONCE = 100
# Sessions of codes that the operator made are the operator's doing as well.
_MADE_BY_CALLER = "made_by <> 'operator' AND NOT (made_by = 'code' AND origin = 'operator' AND ends_with IS NULL)"
_OPEN = "redeemed_at IS NULL AND revoked_at IS NULL AND expires_at > $2"


class CodeRecord(Row, frozen=True):
    """A code without its text. With `made_with` it ends, and its session too."""

    principal_id: str
    created_at: datetime
    expires_at: datetime
    made_by: TokenMaker = TokenMaker.OPERATOR
    origin: TokenOrigin = TokenOrigin.OPERATOR
    made_with: str | None = None
    session_until: datetime | None = None


class SessionRow(Row, frozen=True):
    principal_id: str
    expires_at: datetime


class CallersMaking(Row, frozen=True):
    """What callers made for one principal: tokens and open codes that can be used, and all of the last day."""

    usable: int
    of_last_day: int


async def insert_code(connection: Connection, code: CodeRecord, digest: bytes) -> None:
    """Removes some codes that expired long ago, so that the table does not grow with every sign-in."""
    await connection.execute(
        "DELETE FROM gateway.sign_in_code WHERE code_sha256 IN (SELECT code_sha256 FROM gateway.sign_in_code"
        " WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)",
        code.created_at - DAY,
        _REMOVED_AT_ONCE,
    )
    await connection.execute(
        "INSERT INTO gateway.sign_in_code"
        " (principal_id, created_at, expires_at, made_by, origin, made_with, session_until, code_sha256)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        *msgspec.structs.astuple(code),
        digest,
    )


async def redeem(
    connection: Connection, code: bytes, token_id: str, token: bytes, *, now: datetime, until: datetime
) -> SessionRow | None:
    """One statement: of many at once, one finds the code open. None for a code that is unknown, used or ended."""
    record = await connection.fetchrow(
        "WITH redeemed AS (UPDATE gateway.sign_in_code SET redeemed_at = $2"  # noqa: S608
        f" WHERE code_sha256 = $1 AND {_OPEN} AND (session_until IS NULL OR session_until > $2)"
        " RETURNING principal_id, origin, made_with, session_until)"
        " INSERT INTO gateway.access_token"
        " (token_id, principal_id, label, created_at, expires_at, made_by, origin, ends_with, token_sha256)"
        " SELECT $3, principal_id, '', $2, least($4, session_until), 'code', origin, made_with, $5 FROM redeemed"
        " RETURNING principal_id, expires_at",
        code,
        now,
        token_id,
        until,
        token,
    )
    return to_row_or_none(SessionRow, record)


async def made_by_callers(connection: Connection, principal_id: str, now: datetime) -> CallersMaking:
    record = await connection.fetchrow(
        "SELECT tokens.usable + codes.usable, tokens.of_last_day + codes.of_last_day FROM"  # noqa: S608
        " (SELECT count(*) FILTER (WHERE revoked_at IS NULL AND expires_at > $2) AS usable,"
        " count(*) FILTER (WHERE made_by <> 'code' AND created_at > $3) AS of_last_day"
        f" FROM gateway.access_token WHERE principal_id = $1 AND {_MADE_BY_CALLER}) AS tokens,"
        f" (SELECT count(*) FILTER (WHERE {_OPEN}) AS usable, count(*) FILTER (WHERE created_at > $3) AS of_last_day"
        " FROM gateway.sign_in_code WHERE principal_id = $1 AND made_by <> 'operator') AS codes",
        principal_id,
        now,
        now - DAY,
    )
    return to_row(CallersMaking, record)
