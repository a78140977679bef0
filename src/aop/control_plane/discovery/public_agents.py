"""The public share: what anyone may read of an Agent by its public id, in pages that are made while they are read.

Anyone may send a request and then read slowly. So an answer keeps one piece of itself in memory, never a whole Card: it
reads the Card again for the next piece.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from aop.contracts.catalog import Availability
from aop.contracts.errors import DependencyFailed, NotFound, Reason
from aop.control_plane.discovery import store
from aop.control_plane.discovery.items import ShareHead, shared_release
from aop.control_plane.pages import TimePosition
from aop.control_plane.registry.entries import public_url
from aop.store.database import Database
from aop.store.rows import PageSize

PIECE_BYTES = 256 * 1024
_MAX_READS = 4
"""How many answers read Cards at once: each takes a few times its size, and a connection to the store."""
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class SharedPage:
    """The Releases of a page without their Cards; the position of the last one when more exist."""

    public_agent_id: str
    availability: Availability
    releases: Sequence[store.ReleaseOfShare]
    last: TimePosition | None

    @property
    def weight(self) -> int:
        return sum(release.weight for release in self.releases)

    def batches(self) -> Iterator[Sequence[str]]:
        """Releases whose Cards together make one piece; a larger Card is alone."""
        batch: list[str] = []
        weight = 0
        for release in self.releases:
            if batch and weight + release.weight > PIECE_BYTES:
                yield batch
                batch, weight = [], 0
            batch.append(release.release_id)
            weight += release.weight
        if batch:
            yield batch


class PublicAgents:
    def __init__(self, database: Database, public_origin: str) -> None:
        self._database = database
        self._public_origin = public_origin
        self._reads = asyncio.Semaphore(_MAX_READS)

    async def page(self, public_agent_id: str, size: PageSize, after: TimePosition | None) -> SharedPage:
        async with self._reads, self._database.connection() as connection:
            share = await store.shared_releases(connection, public_agent_id, size, after)
        if share is None:
            raise NotFound("no such Agent", reason=Reason.AGENT_UNKNOWN)
        releases = share.page.rows
        if not all(release.agrees for release in releases):
            raise DependencyFailed("the digests of a Release and its Card disagree")
        return SharedPage(
            public_agent_id,
            Availability.INSTALLABLE if share.shares else Availability.NOT_INSTALLABLE,
            releases,
            None if share.page.is_last else (releases[-1].published_at, releases[-1].release_id),
        )

    async def content(self, page: SharedPage, next_cursor: str | None) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of the page. Raises DependencyFailed when a Release is withdrawn before it is read."""
        head = ShareHead(
            schema_version="1",
            public_agent_id=page.public_agent_id,
            public_url=public_url(self._public_origin, page.public_agent_id),
            availability=page.availability,
        )
        yield _encode(head)[:-1] + b',"releases":['
        separator = b""
        for batch in page.batches():
            offset = 0
            while piece := (await self._items(batch, separator))[offset : offset + PIECE_BYTES]:
                yield piece
                offset += len(piece)
                if len(piece) < PIECE_BYTES:
                    break
            separator = b","
        yield b"]}" if next_cursor is None else b'],"nextCursor":' + _encode(next_cursor) + b"}"

    async def _items(self, release_ids: Sequence[str], separator: bytes) -> bytes:
        async with self._reads:
            async with self._database.connection() as connection:
                rows = await store.shared_documents(connection, release_ids)
            if len(rows) != len(release_ids):
                raise DependencyFailed("a Release was withdrawn while its share was read")
            return separator + b",".join(_encode(shared_release(row)) for row in rows)
