"""Reads the topology watch as a Router does, checking every byte of its framing, and fills the store for it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from aop.contracts.documents import document
from aop.net.http import HttpClient, StreamedAnswer, Target
from tests.support.settings import ROUTER_TO_CONTROL_PLANE
from tests.support.waiting import PATIENCE_SECONDS

WATCH = "/internal/v1/topology/watch"
_FRAME = re.compile(rb"data: (\{[^\r\n]*\})\n\n|(:\n\n)")
_SEED = (
    "INSERT INTO registry.provider (provider_id, owner_id, claimed_at) VALUES ('seeded', 'seeder', now())"
    " ON CONFLICT DO NOTHING",
    "INSERT INTO registry.agent (agent_id, owner_id, public_agent_id, provider_id)"
    " SELECT 'seeded:' || n, 'seeder', 'agt_' || md5(n::text), 'seeded' FROM generate_series(1, {count}) AS n",
    "INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name, folded_text,"
    " skill_ids, status, registered_at, published_at, publication)"
    " SELECT 'seeded:' || n, '1.0.0', convert_to(n::text, 'UTF8'), encode(sha256(convert_to(n::text, 'UTF8')), 'hex'),"
    " 'seeder', '', '', '', '{{}}', 'published', now(), now(), n FROM generate_series(1, {count}) AS n",
    "INSERT INTO registry.binding (binding_id, provider_id, agent_id, version, endpoint_origin, endpoint_path, method,"
    " status, evidence_digest, verified_at, created_at, updated_at)"
    " SELECT 'bind_' || md5(n::text), 'seeded', 'seeded:' || n, '1.0.0', 'https://seeded.example', '/',"
    " 'http_well_known', 'verified', repeat('0', 64), now(), now(), now() FROM generate_series(1, {count}) AS n",
    "INSERT INTO registry.release (release_id, provider_id, agent_id, version, card_digest, binding_id,"
    " endpoint_origin, endpoint_path, method, evidence_digest, state, created_at, updated_at, verified_at,"
    " published_at)"
    " SELECT 'rel_' || md5(n::text), 'seeded', agent_id, version, digest, 'bind_' || md5(n::text),"
    " 'https://seeded.example', '/', 'http_well_known', repeat('0', 64), 'published', now(), now(), now(), now()"
    " FROM generate_series(1, {count}) AS n JOIN registry.card ON agent_id = 'seeded:' || n",
    "INSERT INTO registry.change (revision, release_id, agent_id, version, card_digest, state)"
    " SELECT row_number() OVER (ORDER BY release_id) + (SELECT value FROM registry.counter WHERE name = 'topology'),"
    " release_id, agent_id, version, card_digest, state FROM registry.release WHERE provider_id = 'seeded'",
    "UPDATE registry.counter SET value = value + {count}",
)


async def seed_releases(url: str, count: int) -> None:
    """Published Releases straight into the store, as many as a busy platform has; the login must own the tables."""
    connection = await asyncpg.connect(url)
    try:
        for statement in _SEED:
            await connection.execute(statement.format(count=count))
        await connection.execute("ANALYZE registry.card, registry.release")
    finally:
        await connection.close()


class Watch:
    """One open watch; whatever is not a frame of the contract fails the test that reads it."""

    def __init__(self, answer: StreamedAnswer) -> None:
        self.answer = answer
        self.frames: list[dict[str, Any]] = []
        self._unread = b""

    async def frame(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The next event, comments passed over."""
        async with asyncio.timeout(seconds):
            while True:
                match = _FRAME.match(self._unread)
                if match is None:
                    self._unread += await anext(self.answer)
                    continue
                self._unread = self._unread[match.end() :]
                if match[1] is not None:
                    return self._checked(match[1])

    async def change(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The next change, heartbeats passed over."""
        async with asyncio.timeout(seconds):
            while True:
                frame = await self.frame(seconds)
                if frame["kind"] == "change":
                    return frame

    async def snapshot(self) -> list[dict[str, Any]]:
        """All frames of the snapshot that begins the watch."""
        frames = [await self.frame()]
        while not frames[-1]["complete"]:
            frames.append(await self.frame())
        return frames

    async def ended(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Reads to the end of the answer, which must not cut a frame."""
        async with asyncio.timeout(seconds):
            async for piece in self.answer:
                self._unread += piece
        while match := _FRAME.match(self._unread):
            self._unread = self._unread[match.end() :]
        assert self._unread == b""

    def _checked(self, text: bytes) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(text)
        assert document("topology-event/1").violations(frame) == ()
        previous = self.frames[-1]["revision"] if self.frames else 0
        assert frame["revision"] >= previous + (frame["kind"] == "change" and bool(self.frames))
        self.frames.append(frame)
        return frame


@asynccontextmanager
async def watching(port: int, after: int | None = None, seconds: float = 60.0) -> AsyncIterator[Watch]:
    client = HttpClient(idle_seconds=1, connect_seconds=PATIENCE_SECONDS)
    path = WATCH if after is None else f"{WATCH}?after={after}"
    deadline = asyncio.get_running_loop().time() + seconds
    headers = ((b"authorization", f"Bearer {ROUTER_TO_CONTROL_PLANE}".encode()),)
    try:
        async with client.stream(
            Target("http", "127.0.0.1", port, "127.0.0.1"),
            "GET",
            path,
            headers=headers,
            deadline=deadline,
            max_body=2**40,
        ) as answer:
            assert answer.status == 200
            yield Watch(answer)
    finally:
        await client.close()
