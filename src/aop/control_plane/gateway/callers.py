"""Who is calling the Gateway: an access token of ours or, where configured, a token of an OpenID provider."""

from aop.contracts.errors import Unauthenticated
from aop.control_plane.gateway.oidc.callers import OidcCallers
from aop.control_plane.gateway.tokens import TokenCallers
from aop.serving.bearer import bearer_token
from aop.serving.request import Request

_OWN_PREFIX = "aop_"


class Callers:
    def __init__(self, tokens: TokenCallers, oidc: OidcCallers | None) -> None:
        self._tokens = tokens
        self._oidc = oidc

    async def authenticate(self, request: Request) -> None:
        text = bearer_token(request)
        if text.startswith(_OWN_PREFIX):
            request.caller = await self._tokens.identify(text)
        elif self._oidc is not None:
            request.caller = await self._oidc.identify(text)
        else:
            raise Unauthenticated("not an access token")
