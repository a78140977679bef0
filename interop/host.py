"""Serves the application of a framework as its author would: under the guard when the platform's settings are there.

It runs in the environment of the framework, where of this project only `aop.agent` can be used.
"""

import json
import os
import sys
from typing import Any

import uvicorn

from aop.agent.guard.guard import replayed
from aop.agent.guard.settings import ISSUER, guarded
from aop.net.asgi import ASGIApp, Receive, Scope, Send

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 0
ORIGIN = f"http://127.0.0.1:{PORT}"


def serve(app: Any) -> None:
    shown: ASGIApp = _showing_methods(app)
    is_guarded = ISSUER in os.environ  # noqa: TID251
    uvicorn.run(guarded(shown) if is_guarded else shown, host="127.0.0.1", port=PORT, log_level="warning")


def _showing_methods(app: ASGIApp) -> ASGIApp:
    """Prints the method of each call, so that a cancel that arrives is seen, whatever the framework does with it."""

    async def show(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        print("method", json.loads(body).get("method"), flush=True)
        await app(scope, replayed(body, receive), send)

    return show
