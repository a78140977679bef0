"""A statement that its user sends over one connection again and again.

The driver looks a statement up by its text for every call, in several steps. Here it is prepared once for the
connection and then used as it is.
"""

from typing import Any

import asyncpg

from aop.store.database import Connection

# After a change of its tables. The driver prepares those anew that it looks up.
_OUTDATED = (asyncpg.InvalidCachedStatementError, asyncpg.OutdatedSchemaCacheError)


class KeptStatement:
    """One user at a time. A connection that is met for the first time may be met only once, and prepares nothing."""

    __slots__ = ("_connection", "_statement", "query")

    def __init__(self, query: str) -> None:
        self.query = query
        self._connection: Connection = None
        self._statement: Any = None

    async def fetchrow(self, connection: Connection, *values: Any) -> Any:
        if self._connection is not connection:
            self._meet(connection)
            return await connection.fetchrow(self.query, *values)
        try:
            return await (self._statement or await self._prepared(connection)).fetchrow(*values)
        except _OUTDATED:
            self._statement = None
            return await connection.fetchrow(self.query, *values)
        except BaseException:
            self._meet(None)
            raise

    async def execute(self, connection: Connection, *values: Any) -> None:
        if self._connection is not connection:
            self._meet(connection)
            await connection.execute(self.query, *values)
            return
        try:
            await (self._statement or await self._prepared(connection)).fetch(*values)
        except _OUTDATED:
            self._statement = None
            await connection.execute(self.query, *values)
        except BaseException:
            self._meet(None)
            raise

    def _meet(self, connection: Connection) -> None:
        self._connection, self._statement = connection, None

    async def _prepared(self, connection: Connection) -> Any:
        self._statement = await connection.prepare(self.query)
        return self._statement
