"""Calls of a caller's own identity: who it is, its tokens, and sign-in."""

import msgspec

from aop.client.call import Call, Page, json_of, page_of
from aop.client.operation import list_operation, operation
from aop.contracts.sign_in import (
    AccessToken,
    AccessTokenRequest,
    NewAccessToken,
    Principal,
    Session,
    SignInCode,
    SignInRequest,
)


class IdentityCalls:
    """Know as whom you call, keep your own tokens, and sign in elsewhere."""

    @operation("GET", "/v1/me")
    def read_me(self) -> Call[Principal]:
        """Whom the presented token stands for.

        >>> client.read_me().principal_id
        'alice'
        """
        return Call(json_of(Principal))

    @list_operation("/v1/me/tokens")
    def list_my_tokens(self) -> Call[Page[AccessToken]]:
        """The caller's tokens that can be used, newest first. Sessions are those made by `code`."""
        return Call(page_of(AccessToken))

    @operation("POST", "/v1/me/tokens", 201)
    def create_my_token(self, label: str, *, days: int | None = None) -> Call[NewAccessToken]:
        """A further token of the caller. Its text is returned only here; `expires_at` says how long it may live.

        >>> made = client.create_my_token("build server", days=1)
        >>> client.revoke_my_token(made.token_id).label
        'build server'
        """
        body = AccessTokenRequest(label=label, days=msgspec.UNSET if days is None else days)
        return Call(json_of(NewAccessToken), body=msgspec.json.encode(body))

    @operation("DELETE", "/v1/me/tokens/{tokenId}")
    def revoke_my_token(self, token_id: str) -> Call[AccessToken]:
        """Ends one of the caller's tokens, and all that was made with it."""
        return Call(json_of(AccessToken), {"tokenId": token_id})

    @operation("DELETE", "/v1/me/token")
    def revoke_presented_token(self) -> Call[AccessToken]:
        """Signs out: ends the token of this client, and all that was made with it."""
        return Call(json_of(AccessToken))

    @operation("POST", "/v1/me/sign-in-codes", 201)
    def create_sign_in_code(self) -> Call[SignInCode]:
        """A code that signs in once, within ten minutes, as the caller."""
        return Call(json_of(SignInCode))

    @operation("POST", "/v1/sign-in", 201)
    def sign_in(self, code: str) -> Call[Session]:
        """Redeems a code for a session. The token of this client plays no part.

        >>> session = client.sign_in(client.create_sign_in_code().code)
        >>> session.principal_id
        'alice'
        """
        return Call(json_of(Session), body=msgspec.json.encode(SignInRequest(code=code)), anonymous=True)
