"""Access tokens: issued once as text, stored as SHA-256 only.

The text of a token is a prefix, 37 random base62 characters and a checksum of them of 6 characters.
"""

import hashlib
import re
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aop.base.clock import Clock, utc_now
from aop.base.ids import new_id
from aop.base.settings import Secret, SettingProblem, SettingsRefused
from aop.control_plane.gateway.store import tokens as store
from aop.control_plane.settings import OIDC_PRINCIPAL_PREFIX
from aop.store.database import Connection, connect, translated_failures

DEFAULT_DAYS = 90
TEXT_PREFIX = "aop_"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 37
_CHECKSUM_LENGTH = 6
_FORM = re.compile(rf"{TEXT_PREFIX}([0-9A-Za-z]{{{_RANDOM_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})", re.ASCII)


TokenRecord = store.TokenRecord


@dataclass(frozen=True)
class IssuedToken:
    record: TokenRecord
    token: Secret


class Tokens:
    """What an operator does with tokens, on one connection."""

    def __init__(self, connection: Connection, clock: Clock = utc_now) -> None:
        self._connection = connection
        self._clock = clock

    async def issue(self, principal: str, label: str = "", days: int = DEFAULT_DAYS) -> IssuedToken:
        text, now = new_token_text(), self._clock()
        record = TokenRecord(new_id("tok"), principal, label, now, now + timedelta(days=days))
        async with translated_failures():
            await store.insert_token(self._connection, record, token_digest(text))
        return IssuedToken(record, Secret(text))

    async def all(self) -> Sequence[TokenRecord]:
        async with translated_failures():
            return await store.all_tokens(self._connection)

    async def revoke(self, token_id: str) -> bool:
        """With all that was made with it; False when there is no such token."""
        async with translated_failures():
            token = await store.token(self._connection, token_id)
            if token is None:
                return False
            async with self._connection.transaction():
                await store.lock_principal(self._connection, token.principal_id)
                await store.revoke(self._connection, token_id, self._clock())
        return True


async def issue_token(database_url: str, principal: str, *, label: str = "", days: int = DEFAULT_DAYS) -> IssuedToken:
    connection = await connect(database_url, application="aop token")
    try:
        return await Tokens(connection).issue(principal, label, days)
    finally:
        await connection.close()


async def require_reserved(connection: Connection, prefix: str, now: datetime) -> None:
    """Refuses the prefix of the OpenID provider's principals while a usable token has one that it did not vouch for."""
    token_id = await store.usable_operator_token_of(connection, prefix, now)
    if token_id is not None:
        reason = f"begins the principal of {token_id}: revoke it (aop token revoke {token_id}) or choose another prefix"
        raise SettingsRefused([SettingProblem(OIDC_PRINCIPAL_PREFIX, reason)])


def new_token_text() -> str:
    random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return f"{TEXT_PREFIX}{random}{_checksum(random)}"


def is_well_formed(text: str) -> bool:
    """Checks form and checksum, so that a mistyped or truncated token is refused without a read of the store."""
    match = _FORM.fullmatch(text)
    return match is not None and _checksum(match[1]) == match[2]


def token_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()


def _checksum(random: str) -> str:
    number, digits = zlib.crc32(random.encode("ascii")), ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, 62)
        digits = _ALPHABET[digit] + digits
    return digits
