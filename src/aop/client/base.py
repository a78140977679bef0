"""What both clients are made with: the Gateway's address, the token, the time a call may take."""

import copy
import os
import ssl
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, Self, TypeVar

from aop.client.authorities import trusted_context
from aop.client.call import Call
from aop.client.errors import InvalidAddress
from aop.client.transport import Token, Transport
from aop.net.origin import Endpoint, InvalidEndpoint

C = TypeVar("C", bound="BaseClient")

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024


@dataclass(eq=False, repr=False)
class BaseClient:
    """A caller of one Gateway.

    `token` is the access token, or a function that gives it (or an awaitable of it) before every request. Without one,
    only what anyone may read and sign-in can be called; every other call raises TokenNeeded. `timeout` is in seconds
    and bounds a call from its beginning to the end of its answer; invocations and challenge completions may take as
    long as the platform lets them unless `timeout` of the call says otherwise.

    `ca` is a PEM file with the certificate authorities to trust instead of the certifi roots; without it SSL_CERT_FILE
    of the environment is one. `tls` is a whole context in the place of both.
    """

    base_url: str
    token: InitVar[Token | None] = None
    timeout: float = field(default=30.0, kw_only=True)
    tls: InitVar[ssl.SSLContext | None] = field(default=None, kw_only=True)
    ca: InitVar[str | os.PathLike[str] | None] = field(default=None, kw_only=True)
    max_answer_bytes: int = field(default=MAX_ANSWER_BYTES, kw_only=True)
    _transport: Transport = field(init=False)
    _within: float | None = field(init=False, default=None)

    def __post_init__(self, token: Token | None, tls: ssl.SSLContext | None, ca: str | os.PathLike[str] | None) -> None:
        if tls is not None and ca is not None:
            raise ValueError("give tls or ca, not both")
        try:
            endpoint = Endpoint.parse(self.base_url)
        except InvalidEndpoint as problem:
            raise InvalidAddress(self.base_url, str(problem)) from None
        tls = tls or trusted_context(ca, is_https=endpoint.scheme == "https")
        self._transport = Transport(endpoint, token, tls, self.max_answer_bytes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    def within(self, seconds: float) -> Self:
        """The same client, over the same connections, with that much time for each call."""
        view = copy.copy(self)
        view._within = seconds  # noqa: SLF001  (its own copy)
        return view

    def bearing(self, token: Token) -> Self:
        """The same client, over the same connections, for the bearer of another token."""
        view = copy.copy(self)
        view._transport = self._transport.bearing(token)  # noqa: SLF001  (its own copy)
        return view

    def _sharing(self, kind: type[C]) -> C:
        """A client of that kind, over the same connections and with the same time for each call."""
        made = kind(self.base_url, timeout=self.timeout, max_answer_bytes=self.max_answer_bytes)
        made._transport, made._within = self._transport, self._within  # noqa: SLF001  (of the same family)
        return made

    def _seconds(self, call: Call[Any]) -> float:
        if call.timeout is not None:
            return call.timeout
        return max(self.timeout, call.patience) if self._within is None else self._within
