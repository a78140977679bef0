"""Writes migrations/<owner>/guards.json from a freshly migrated store."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from aop.local.postgres import EmbeddedPostgres
from aop.store import migrations
from aop.store.database import connect
from aop.store.store_check import found_guards

ROOT = Path(__file__).resolve().parents[1]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "pg", home / "pg.log", settings={"fsync": "off"}) as server:
            url = server.url(database="postgres")
            await migrations.migrate(url)
            connection = await connect(url, application="guards")
            for owner in migrations.OWNERS:
                text = json.dumps(await found_guards(connection, owner), indent=2) + "\n"
                (ROOT / "migrations" / owner / "guards.json").write_text(text, "utf-8")
            await connection.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
