"""Readers of the documents of a caller's own identity: its principal, its tokens, and sign-in codes."""

from enum import StrEnum

import msgspec

from aop.contracts.wire import Wire


class TokenMaker(StrEnum):
    OPERATOR = "operator"
    OPENID = "openid"
    TOKEN = "token"  # noqa: S105  a word, no secret
    CODE = "code"


class Principal(Wire, frozen=True, kw_only=True):
    principal_id: str


class AccessTokenRequest(Wire, frozen=True, kw_only=True):
    label: str
    days: int | msgspec.UnsetType = msgspec.UNSET


class TokenMembers(Wire, frozen=True, kw_only=True):
    """What every document about a token says of it."""

    token_id: str
    label: str
    created_at: str
    expires_at: str
    current: bool
    made_by: TokenMaker
    ends_with: str | msgspec.UnsetType = msgspec.UNSET


class AccessToken(TokenMembers, frozen=True, kw_only=True):
    """A token as its principal sees it, without its text."""

    last_used_at: str | msgspec.UnsetType = msgspec.UNSET
    revoked_at: str | msgspec.UnsetType = msgspec.UNSET


class NewAccessToken(TokenMembers, frozen=True, kw_only=True):
    """A new token with its text, which is sent only once."""

    token: str

    def __repr__(self) -> str:
        return f"NewAccessToken(token_id={self.token_id!r}, …)"


class SignInCode(Wire, frozen=True, kw_only=True):
    code: str
    expires_at: str

    def __repr__(self) -> str:
        return f"SignInCode(…, expires_at={self.expires_at!r})"


class SignInRequest(Wire, frozen=True, kw_only=True):
    code: str

    def __repr__(self) -> str:
        return "SignInRequest(…)"


class Session(Wire, frozen=True, kw_only=True):
    token: str
    expires_at: str
    principal_id: str

    def __repr__(self) -> str:
        return f"Session(…, principal_id={self.principal_id!r})"


READERS: dict[str, type] = {
    "principal/1": Principal,
    "access-token/1": AccessToken,
    "access-token/1#createRequest": AccessTokenRequest,
    "access-token/1#issued": NewAccessToken,
    "sign-in-code/1": SignInCode,
    "sign-in-code/1#redeemRequest": SignInRequest,
    "sign-in-code/1#session": Session,
}
