"""Nested calls of a lone Router: a held parent, calls with its delegation, and the pin the Control Plane answers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.router.conftest import LoneRouter
from tests.support.callers import asking
from tests.support.control_plane import ScriptedControlPlane, answering
from tests.support.nested import NESTED, nested_body
from tests.support.peers import Behaviour, Received, hold
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.units import Reply

BEARER = "Bearer "
AUTHORIZED = "5a" * 32
INSTALLED = "/internal/v1/resolve-installed-version"


@asynccontextmanager
async def held_parent(router: LoneRouter, *script: Behaviour) -> AsyncIterator[Received]:
    """A running root Invocation; its caller leaves at the end of the scope."""
    router.agent.script(*(script or (hold,)))
    number = len(router.agent.received) + 1
    headers = ((b"authorization", f"Bearer {CONTROL_PLANE_TO_ROUTER}".encode()),)
    body = json.dumps(router.plane.dispatch()).encode()
    async with asking(router.unit, "/internal/v1/invocations", body, headers):
        yield await router.agent.arrival("message/send", number)


async def called(router: LoneRouter, parent: Received, token: str | None = None, **members: Any) -> Reply:
    body = nested_body(router.plane.card["agentId"], **members)
    return await router.unit.post(NESTED, body, token=token or parent.values("x-platform-delegation")[0])


def pinned(plane: ScriptedControlPlane, **members: str) -> Behaviour:
    """The pin of a nested call, and the Card behind it."""

    async def behave(request: Received) -> None:
        pin = {"version": "1.0.0", "releaseId": plane.entry["releaseId"], "agentCardDigest": plane.digest}
        pin |= {"authorizationDigest": AUTHORIZED, **members}
        body = json.dumps(pin).encode() if request.target == INSTALLED else plane.resolved()
        await answering(body)(request)

    return behave
