"""A client of a scripted Gateway, and the error that a call of it ends in."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aop.client import (
    Client,
    ClientError,
)
from tests.client.gateway import ScriptedGateway, scripted_gateway
from tests.support.peers import Behaviour

TOKEN = "a-token-of-the-test"


@asynccontextmanager
async def calling(behave: Behaviour, **options: Any) -> AsyncIterator[tuple[Client, ScriptedGateway]]:
    async with scripted_gateway(behave) as gateway, Client(gateway.origin, TOKEN, **options) as client:
        yield client, gateway


async def failure(behave: Behaviour, call: Callable[[Client], Awaitable[Any]] | None = None, **options: Any) -> Any:
    """The error that a read, or another call, ends in."""
    async with calling(behave, **options) as (client, gateway):
        with pytest.raises(ClientError) as raised:
            await (call(client) if call else client.read_workspace("demo"))
    assert len(gateway.received) == 1, "a request was sent again"
    assert TOKEN not in f"{raised.value!r} {raised.value} {vars(raised.value)}"
    return raised.value
