"""The server: an ASGI application of its own, behind the guard of aop.agent."""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

from aop.agent import AgentSettings, Guard, guarded
from aop.agent.guard import Receive, Scope, Send
from summarizer import a2a
from summarizer.tasks import Tasks

_JSON = [(b"content-type", b"application/json")]
_EVENTS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


def application(settings: AgentSettings) -> Guard:
    return guarded(Application(_public_card(settings.trust.audience), Tasks()), settings)


class Application:
    """Everything it serves; the guard has let through only what the Router sent, and reads of the open paths."""

    def __init__(self, card: dict[str, Any], tasks: Tasks) -> None:
        self._tasks = tasks
        ok = json.dumps({"status": "ok"}).encode()
        self._pages = {"/.well-known/agent-card.json": json.dumps(card).encode(), "/livez": ok, "/readyz": ok}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["path"] in self._pages:
            await _answer(send, self._pages[scope["path"]])
        elif scope["path"] != "/" or scope["method"] != "POST":
            await _answer(send, b'{"message":"Not found"}', 404)
        else:
            await self._serve((await receive())["body"], receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._tasks.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, body: bytes, receive: Receive, send: Send) -> None:
        request_id = None
        try:
            request = a2a.read_request(body)
            request_id = request.id
            if request.method == "message/stream":
                await self._stream(request, receive, send)
            elif request.method == "message/send":
                await self._send(request, receive, send)
            else:
                await _answer(send, a2a.response(request_id, self._about_task(request)))
        except a2a.RpcRefused as refused:
            await _answer(send, a2a.error(request_id, refused))

    async def _stream(self, request: a2a.Request, receive: Receive, send: Send) -> None:
        """A caller who leaves knows the Task, and may still ask for it or cancel it: it goes on."""
        task = a2a.taken(self._tasks, a2a.read_params(request, a2a.MessageParams).message)

        async def tell() -> None:
            await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
            async with aclosing(a2a.followed(task)) as events:
                async for event in events:
                    frame = b"data: " + a2a.response(request.id, event) + b"\n\n"
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

        await _finished(tell(), receive)

    async def _send(self, request: a2a.Request, receive: Receive, send: Send) -> None:
        """A caller who leaves before the answer has never learned the Task, so nobody can want it: it is stopped."""
        params = a2a.read_params(request, a2a.MessageParams)
        task = a2a.taken(self._tasks, params.message)
        if params.configuration.blocking and not await _finished(task.settled(), receive):
            task.cancel()
            return
        await _answer(send, a2a.response(request.id, a2a.snapshot(task)))

    def _about_task(self, request: a2a.Request) -> dict[str, Any]:
        if request.method == "tasks/get":
            return a2a.snapshot(a2a.known(self._tasks, a2a.read_params(request, a2a.TaskParams).id))
        if request.method == "tasks/cancel":
            return a2a.snapshot(a2a.canceled(self._tasks, a2a.read_params(request, a2a.TaskParams).id))
        raise a2a.RpcRefused(a2a.UNKNOWN_METHOD, "Method not found")


def platform_card() -> dict[str, Any]:
    """The Agent Card of the platform, from which the public one is made."""
    here = Path(__file__).parent
    path = next(path for path in (here / "card.json", here.parent / "card.json") if path.is_file())
    card: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return card


def _public_card(origin: str) -> dict[str, Any]:
    card = platform_card()
    skills = [{name: skill[name] for name in ("id", "name", "description")} | {"tags": []} for skill in card["skills"]]
    return {
        **{name: card[name] for name in ("name", "description", "version")},
        "url": f"{origin}/",
        "protocolVersion": card["protocol"]["version"],
        "preferredTransport": card["protocol"]["transport"],
        "capabilities": {"streaming": card["limits"]["streaming"]},
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": skills,
    }


async def _finished(work: Coroutine[Any, Any, None], receive: Receive) -> bool:
    """Whether it came to its end; it is stopped when the caller leaves before."""
    running, leaving = asyncio.create_task(work), asyncio.create_task(_departure(receive))
    try:
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            return False
        running.result()
        return True
    finally:
        running.cancel()
        leaving.cancel()
        await asyncio.wait({running, leaving})


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _answer(send: Send, body: bytes, status: int = 200) -> None:
    headers = [*_JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
