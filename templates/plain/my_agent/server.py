"""The server: an ASGI application behind the guard of aop.agent, which lets through only what the Router sent."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from aop.agent import AgentSettings, Guard, current, guarded
from aop.agent.guard import Receive, Scope, Send
from my_agent import a2a
from my_agent.skills import SKILLS

CARD = Path(__file__).parents[1] / "card.json"
_JSON = [(b"content-type", b"application/json")]
_EVENTS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


def application(settings: AgentSettings) -> Guard:
    return guarded(Application(json.loads(CARD.read_text("utf-8"))), settings)


class Application:
    def __init__(self, card: dict[str, Any]) -> None:
        self._path = urlsplit(card["protocol"]["endpoint"]).path or "/"
        ok = b'{"status":"ok"}'
        public = json.dumps(_public_card(card)).encode()
        self._pages = {"/.well-known/agent-card.json": public, "/livez": ok, "/readyz": ok}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["path"] in self._pages:
            await _answer(send, self._pages[scope["path"]])
        elif scope["path"] != self._path or scope["method"] != "POST":
            await _answer(send, b'{"message":"Not found"}', 404)
        else:
            body = (await receive())["body"]
            await _unless_left(_serve(body, send), receive)


async def _serve(body: bytes, send: Send) -> None:
    request_id = None
    try:
        request = a2a.read_request(body)
        request_id, method = request.get("id"), request["method"]
        if method == "message/stream":
            await _stream(request_id, _work(request), send)
        elif method == "message/send":
            pieces = [piece async for piece in _work(request)]
            await _answer(send, a2a.response(request_id, a2a.message(pieces)))
        else:
            _refuse(method)
    except a2a.RpcRefused as refused:
        await _answer(send, a2a.error(request_id, refused))


def _refuse(method: str) -> NoReturn:
    if method in {"tasks/get", "tasks/cancel"}:
        raise a2a.RpcRefused(a2a.UNKNOWN_TASK, "Task not found")
    raise a2a.RpcRefused(a2a.UNKNOWN_METHOD, "Method not found")


def _work(request: a2a.Json) -> AsyncIterator[Any]:
    given, capability = a2a.given_data(request), current().capability
    if capability not in SKILLS:
        raise a2a.RpcRefused(a2a.INVALID_PARAMS, f"This Agent offers {', '.join(SKILLS)}.")
    return _guarded(SKILLS[capability](given))


async def _guarded(pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """What goes wrong inside a Skill is logged here, and told to the caller without its details."""
    try:
        async for piece in pieces:
            yield piece
    except a2a.RpcRefused:
        raise
    except Exception:
        logging.getLogger(__name__).exception("the work failed")
        raise a2a.RpcRefused(a2a.FAILED, "The work failed.") from None


async def _stream(request_id: Any, pieces: AsyncIterator[Any], send: Send) -> None:
    """One Message per piece; the clean end of the stream says that all is done."""
    await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
    try:
        async for piece in pieces:
            await _event(send, a2a.response(request_id, a2a.message([piece])))
    except a2a.RpcRefused as refused:
        await _event(send, a2a.error(request_id, refused))
    await send({"type": "http.response.body", "body": b""})


async def _event(send: Send, content: bytes) -> None:
    await send({"type": "http.response.body", "body": b"data: " + content + b"\n\n", "more_body": True})


async def _answer(send: Send, body: bytes, status: int = 200) -> None:
    headers = [*_JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _unless_left(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Stops the work when the caller leaves: a canceled Invocation costs nothing more."""

    async def departure() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    running, leaving = asyncio.create_task(work), asyncio.create_task(departure())
    try:
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        running.cancel()
        leaving.cancel()
        await asyncio.wait({running, leaving})


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _public_card(card: dict[str, Any]) -> dict[str, Any]:
    """What A2A wants everyone to be able to read."""
    skills = [{name: skill[name] for name in ("id", "name", "description")} | {"tags": []} for skill in card["skills"]]
    return {
        **{name: card[name] for name in ("name", "description", "version")},
        "url": card["protocol"]["endpoint"],
        "protocolVersion": card["protocol"]["version"],
        "preferredTransport": card["protocol"]["transport"],
        "capabilities": {"streaming": card["limits"]["streaming"]},
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": skills,
    }
