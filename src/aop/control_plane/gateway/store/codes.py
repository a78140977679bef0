"""SQL of sign-in codes, and how many tokens and codes callers made."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from aop.contracts.sign_in import TokenMaker
from aop.control_plane.gateway.store.tokens import TokenOrigin
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import Row, to_row, to_row_or_none

_QUERIES: Final = queries_beside(__file__)

DAY = timedelta(days=1)
_REMOVED_AT_ONCE = 100


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
    await connection.execute(_QUERIES["remove_expired"], code.created_at - DAY, _REMOVED_AT_ONCE)
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
    """None for a code that is unknown, used or ended."""
    record = await connection.fetchrow(_QUERIES["redeem"], code, now, token_id, until, token)
    return to_row_or_none(SessionRow, record)


async def made_by_callers(connection: Connection, principal_id: str, now: datetime) -> CallersMaking:
    record = await connection.fetchrow(_QUERIES["made_by_callers"], principal_id, now, now - DAY)
    return to_row(CallersMaking, record)
