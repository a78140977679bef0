"""What every token of the Router has: a header that names its key, and the claims about who may use it and how long."""

from aop.contracts.wire import Wire


class TokenHeader(Wire, frozen=True, kw_only=True):
    """`alg` and `typ` tell the kinds of token apart; each kind narrows both to its own words."""

    alg: str
    typ: str
    kid: str


class TokenClaims(Wire, frozen=True, kw_only=True):
    iss: str
    aud: tuple[str, ...]
    iat: int
    exp: int
