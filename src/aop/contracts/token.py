"""What every token of the Router has: a header that names its key, and the claims about who may use it and how long."""

from typing import Literal

from aop.contracts.wire import Wire


class TokenHeader(Wire, frozen=True, kw_only=True):
    """`typ` tells the kinds of token apart; each kind narrows it to its own word."""

    alg: Literal["EdDSA"]
    typ: str
    kid: str


class TokenClaims(Wire, frozen=True, kw_only=True):
    iss: str
    aud: tuple[str, ...]
    iat: int
    exp: int
