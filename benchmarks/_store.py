"""An embedded PostgreSQL with the tables of the platform, reached as `aop up` does, and a token of its Gateway."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aop.control_plane.gateway.tokens import issue_token
from aop.local.postgres import EmbeddedPostgres
from aop.store import migrations


@dataclass(frozen=True)
class BenchedStore:
    home: Path
    pid: int
    url: str
    token: str
    """Of the principal `benchmark`."""


@asynccontextmanager
async def migrated_store() -> AsyncIterator[BenchedStore]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log") as server:
            url = server.near_url(database="postgres")
            await migrations.migrate(url)
            yield BenchedStore(home, server.pid, url, (await issue_token(url, "benchmark")).token.reveal())
