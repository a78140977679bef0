"""Sign-in codes: made as text once, stored as SHA-256 only, redeemed once for a session."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from aop.base.canonical import to_base64url
from aop.base.clock import Clock, to_text, utc_now
from aop.base.ids import new_id
from aop.base.settings import Secret
from aop.contracts.errors import Reason, Unauthenticated
from aop.contracts.sign_in import Session
from aop.control_plane.gateway.making import KnownCaller, PrincipalLocks, require_maker
from aop.control_plane.gateway.store import codes as store
from aop.control_plane.gateway.store.codes import CodeRecord
from aop.control_plane.gateway.tokens import new_token_text, token_digest
from aop.store.database import Connection, Database, connect, translated_failures

CODE_LIFE: Final = timedelta(minutes=10)
SESSION_LIFE: Final = timedelta(hours=12)
_CODE_BYTES = 32


@dataclass(frozen=True)
class NewCode:
    code: Secret
    expires_at: datetime


class SignIn:
    def __init__(self, database: Database, locks: PrincipalLocks, clock: Clock) -> None:
        self._database = database
        self._locks = locks
        self._clock = clock

    async def make_code(self, caller: KnownCaller) -> NewCode:
        """The session ends with the token that the code was made with, and no later than it."""
        now = self._clock()
        async with self._locks.of(caller.principal_id) as connection:
            maker = await require_maker(connection, caller, now)
            made_with, until = (None, None) if maker.token is None else (maker.token.token_id, maker.token.expires_at)
            record = CodeRecord(
                caller.principal_id, now, now + CODE_LIFE, maker.made_by, maker.origin, made_with, until
            )
            return await _insert(connection, record)

    async def redeem(self, code: str) -> Session:
        """Wrong, used, revoked and expired codes are refused alike."""
        text, now = new_token_text(), self._clock()
        async with self._database.connection() as connection:
            session = await store.redeem(
                connection, _digest(code), new_id("tok"), token_digest(text), now=now, until=now + SESSION_LIFE
            )
        if session is None:
            raise Unauthenticated("no open code", reason=Reason.SIGN_IN_CODE)
        return Session(token=text, expires_at=to_text(session.expires_at), principal_id=session.principal_id)


async def make_operators_code(database_url: str, principal_id: str, clock: Clock = utc_now) -> NewCode:
    """With store access: what is made in its session may outlive it."""
    connection, now = await connect(database_url, application="aop open"), clock()
    try:
        async with translated_failures():
            return await _insert(connection, CodeRecord(principal_id, now, now + CODE_LIFE))
    finally:
        await connection.close()


async def _insert(connection: Connection, record: CodeRecord) -> NewCode:
    code = to_base64url(secrets.token_bytes(_CODE_BYTES))
    await store.insert_code(connection, record, _digest(code))
    return NewCode(Secret(code), record.expires_at)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
