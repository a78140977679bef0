"""A plugin for pytest in the kit's own process: gives every request of the kit the credential of a Router.

The kit's tests of authentication send what they send: there a missing or invented credential is the point.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests

from interop.tck.identity import Identity

AUTHENTICATION_TESTS = "auth"


class Signer:
    """Signs while it is switched on, and never a request that has a credential already."""

    def __init__(self, identity: Identity) -> None:
        self._router = identity.router()
        self._skill_id = identity.skill_id
        self.is_on = True

    def sign(self, request: Any, body: bytes | str | None) -> None:
        if not self.is_on or request.method != "POST" or "authorization" in request.headers:
            return
        content = body.encode() if isinstance(body, str) else body or b""
        draft = self._router.draft(content, capability=self._skill_id)
        request.headers["Authorization"] = f"Bearer {draft.token()}"
        for name, value in draft.context():
            request.headers[name.decode()] = value.decode()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.is_on = AUTHENTICATION_TESTS not in item.path.name


def pytest_configure(config: pytest.Config) -> None:
    signer = Signer(Identity.from_environment())
    config.pluginmanager.register(signer)
    before_sending(httpx.Client, lambda request: signer.sign(request, request.content))
    before_sending(httpx.AsyncClient, lambda request: signer.sign(request, request.content))
    before_sending(requests.Session, lambda request: signer.sign(request, request.body))


def before_sending(client: type[Any], complete: Callable[[Any], None]) -> None:
    """The kit makes its clients in many places; what they share is the method that sends."""
    send = client.send

    def completing_send(self: Any, request: Any, **options: Any) -> Any:
        complete(request)
        return send(self, request, **options)

    client.send = completing_send
