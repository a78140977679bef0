"""A plugin for pytest in the kit's own process: makes the kit a caller of the door, with a token and the right card.

The kit's tests of authentication send what they send: there a missing or invented token is the point.
"""

from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
import requests

from interop.tck.identity import CallerIdentity
from interop.tck.signer import AUTHENTICATION_TESTS, before_sending

_CARD: Final = "/.well-known/"


class Bearer:
    """Adds what a caller of the door knows and the kit cannot know."""

    def __init__(self, identity: CallerIdentity) -> None:
        self._identity = identity
        self._host = urlsplit(identity.address).netloc
        self.is_on = True

    def complete(self, request: Any) -> None:
        place = urlsplit(str(request.url))
        if place.netloc != self._host:
            return
        if place.path.startswith(_CARD):  # the kit looks for the one card of a host
            self._move(request, self._identity.address + place.path)
        if _CARD in place.path and "a2a-version" not in request.headers:
            request.headers["A2A-Version"] = self._identity.version
        if self.is_on and "authorization" not in request.headers:
            request.headers["Authorization"] = f"Bearer {self._identity.token}"

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.is_on = AUTHENTICATION_TESTS not in item.path.name

    @staticmethod
    def _move(request: Any, url: str) -> None:
        request.url = httpx.URL(url) if isinstance(request, httpx.Request) else url


def pytest_configure(config: pytest.Config) -> None:
    bearer = Bearer(CallerIdentity.from_environment())
    config.pluginmanager.register(bearer)
    for client in (httpx.Client, httpx.AsyncClient, requests.Session):
        before_sending(client, bearer.complete)
