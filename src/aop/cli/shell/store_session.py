"""One connection of an operator's command to a unit's database, and the problems of a store as those of the command."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem
from aop.store.database import Connection, connect, translated_failures
from aop.store.problems import StoreNotAsExpected, StoreUnavailable


@contextmanager
def store_problems() -> Iterator[None]:
    try:
        yield
    except StoreNotAsExpected as problem:
        raise CommandProblem(str(problem), exit_code=EXIT_CONFIGURATION) from None
    except StoreUnavailable as failure:
        raise CommandProblem(f"the database cannot be reached or refused ({failure})") from None


@asynccontextmanager
async def store_session(url: str, application: str, *, writable: bool = True) -> AsyncIterator[Connection]:
    with store_problems():
        connection = await connect(url, application=application, writable=writable)
        try:
            async with translated_failures():
                yield connection
        finally:
            connection.terminate()


@asynccontextmanager
async def one_state(url: str, application: str) -> AsyncIterator[Connection]:
    """For a command that only reads: all of it sees the database as it was at the first statement."""
    async with (
        store_session(url, application) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        yield connection
