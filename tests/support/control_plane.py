"""A scripted Control Plane for a lone Router: a watch whose frames the test sends, and resolve answers it makes up."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aop.base.canonical import canonical
from aop.base.ids import new_id, new_trace_id
from tests.support.cards import Card
from tests.support.peers import Behaviour, Received, listening

RELEASE = "rel_0190f5c0113c7a219b8c7d6e5f400001"
WORKSPACE = "space"
_WATCH_HEAD = b"HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class ScriptedControlPlane:
    """Knows one Release. `on_resolve` answers resolve-agent; by default with what is true."""

    card: Card
    port: int = 0
    revision: int = 1
    state: str = "published"
    watched: bool = True
    on_resolve: Behaviour | None = None
    resolves: list[Received] = field(default_factory=list)
    watches: list[Received] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def document(self) -> bytes:
        return canonical(self.card)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.document).hexdigest()

    @property
    def entry(self) -> dict[str, Any]:
        named = {"agentId": self.card["agentId"], "version": self.card["version"], "releaseId": RELEASE}
        return {**named, "cardDigest": self.digest, "state": self.state}

    def dispatch(self, **members: Any) -> dict[str, Any]:
        """The body of a root Invocation as Dispatch sends it."""
        return {
            "invocationId": new_id("inv"),
            "rootTaskId": new_id("task"),
            "traceId": new_trace_id(),
            "workspaceId": WORKSPACE,
            "targetAgentId": self.card["agentId"],
            "capability": self.card["skills"][0]["id"],
            "caller": {"type": "user", "id": "alice"},
            "agentCardVersion": self.card["version"],
            "agentReleaseId": RELEASE,
            "agentCardDigest": self.digest,
            "authorizationDigest": self.digest,
            "input": {},
            "stream": False,
        } | members

    def installation(self, **members: Any) -> dict[str, Any]:
        return {
            "installationId": "inst_0190f5c0113c7a219b8c7d6e5f400001",
            "workspaceId": WORKSPACE,
            "agentId": self.card["agentId"],
            "installedVersion": self.card["version"],
            "installedReleaseId": RELEASE,
            "agentCardDigest": self.digest,
            "acceptedPermissions": [item["id"] for item in self.card["permissions"]],
            "status": "enabled",
        } | members

    def resolved(self, document: bytes | None = None, **members: Any) -> bytes:
        """The body of a good resolve answer; `members` changes the Installation in it."""
        installation = json.dumps(self.installation(**members)).encode()
        return b'{"card":%b,"installation":%b}' % (document or self.document, installation)

    async def meet(self, request: Received) -> None:
        if request.target.startswith("/internal/v1/topology/watch"):
            await self._watch(request)
        else:
            self.resolves.append(request)
            await (self.on_resolve or answering(self.resolved()))(request)

    async def change(self, state: str) -> None:
        self.state, self.revision = state, self.revision + 1
        for watch in self.watches:
            await self._send(watch, "change", release=self.entry)

    async def _watch(self, request: Received) -> None:
        if not self.watched:
            await request.answer(b"{}", 503)
            return
        self.watches.append(request)
        await request.send(_WATCH_HEAD)
        await self._send(request, "snapshot", releases=[self.entry], complete=True)
        await request.wait_for_leaving()
        self.watches.remove(request)

    async def _send(self, watch: Received, kind: str, **members: Any) -> None:
        frame = {"schemaVersion": "1", "kind": kind, "revision": self.revision, **members}
        content = b"data: " + json.dumps(frame).encode() + b"\n\n"
        await watch.send(b"%x\r\n%b\r\n" % (len(content), content))


def answering(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    """With the trace of the question, as JSON unless headers are given."""

    async def behave(request: Received) -> None:
        trace = b"x-platform-trace-id: " + request.json["traceId"].encode()
        await request.answer(body, status, trace, *(headers or (b"content-type: application/json",)))

    return behave


@asynccontextmanager
async def scripted_control_plane(card: Card) -> AsyncIterator[ScriptedControlPlane]:
    plane = ScriptedControlPlane(card)
    async with listening(plane.meet) as plane.port:
        yield plane
