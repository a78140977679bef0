"""Who makes a token or a code for itself, how much of it, and with what it ends."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aop.contracts.errors import Conflict, Reason, Unauthenticated
from aop.contracts.sign_in import TokenMaker
from aop.control_plane.gateway.store import codes, tokens
from aop.control_plane.gateway.store.tokens import TokenOrigin, TokenRecord, UnrevokedToken
from aop.store.database import Connection

MAX_USABLE: Final = 100
MAX_OF_A_DAY: Final = 500


@dataclass(frozen=True)
class KnownCaller:
    """A principal, and the access token it presented; None for a token of the OpenID provider."""

    principal_id: str
    token: UnrevokedToken | None


@dataclass(frozen=True)
class Maker:
    made_by: TokenMaker
    origin: TokenOrigin
    token: TokenRecord | None = None


async def require_maker(connection: Connection, caller: KnownCaller, now: datetime) -> Maker:
    """For the rest of the transaction: the caller's token stays as it is, and nobody else counts what it makes.

    The token is read again. It may have been revoked since it was accepted, and then nothing may be made with it.
    """
    await tokens.lock_principal(connection, caller.principal_id)
    maker = Maker(TokenMaker.OPENID, TokenOrigin.OPENID)
    if caller.token is not None:
        token = await tokens.token(connection, caller.token.token_id)
        if token is None or token.revoked_at is not None or token.expires_at <= now:
            raise Unauthenticated("the token ended meanwhile")
        maker = Maker(TokenMaker.TOKEN, token.origin, token)
    made = await codes.made_by_callers(connection, caller.principal_id, now)
    if made.usable >= MAX_USABLE or made.of_last_day >= MAX_OF_A_DAY:
        raise Conflict("too many tokens and codes", reason=Reason.TOKEN_LIMIT)
    return maker
