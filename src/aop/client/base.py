"""What both clients are made with: the Gateway's address, the token, the time a call may take."""

import copy
import ssl
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, Self, TypeVar

from aop.client.call import Call
from aop.client.transport import Token, Transport
from aop.net.origin import Endpoint

C = TypeVar("C", bound="BaseClient")

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024


@dataclass(eq=False, repr=False)
class BaseClient:
    """A caller of one Gateway.

    `token` is the access token, or a function that gives it (or an awaitable of it) before every request. `timeout` is
    in seconds and bounds a call from its beginning to the end of its answer; invocations and challenge completions may
    take as long as the platform lets them unless told otherwise. `tls` replaces the certifi roots.
    """

    base_url: str
    token: InitVar[Token | None] = None
    timeout: float = field(default=30.0, kw_only=True)
    tls: InitVar[ssl.SSLContext | None] = field(default=None, kw_only=True)
    max_answer_bytes: int = field(default=MAX_ANSWER_BYTES, kw_only=True)
    _transport: Transport = field(init=False)
    _within: float | None = field(init=False, default=None)

    def __post_init__(self, token: Token | None, tls: ssl.SSLContext | None) -> None:
        self._transport = Transport(Endpoint.parse(self.base_url), token, tls, self.max_answer_bytes)

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
