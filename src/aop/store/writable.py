"""Connections to the one node of a database that takes writes, whichever of the hosts in its URL that is just now.

A session on a standby, on a read-only node, or on a former leader that has not noticed yet would read old rows and
write nothing. So each new session is asked what it is before anybody uses it. The driver can look for a writable host
too, but gives the whole time to a first host that does not answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import asyncpg

from aop.base.database_url import single_host_urls
from aop.store.problems import NotReplicated, NotWritable

HEAD_START_SECONDS: Final = 0.3
"""A host has so long before the next one is tried beside it."""
PROBE_SECONDS: Final = 5.0
"""How often all hosts of a URL are asked what they are."""

# A promotion begins a new timeline. The server knows it at once; its control file follows with the next checkpoint.
_STATE = """
SELECT current_setting('transaction_read_only') = 'on' AS read_only,
       (SELECT system_identifier FROM pg_catalog.pg_control_system()) AS cluster,
       CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
            ELSE left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END AS timeline
"""
Leader = tuple[int, int]
"""The cluster and the timeline that a promotion began."""

# Where the warning comes from; its text depends on the language of the server.
_SYNCHRONOUS_WAIT: Final = "SyncRepWaitForLSN"


class StoreConnection(asyncpg.Connection):  # type: ignore[misc]  # the library ships no types
    """Notes the warning behind which a commit reports success although no standby has it.

    The driver keeps its own listeners for one use of a pooled connection only.
    """

    is_unreplicated = False
    leader: "tuple[_Hosts, Leader] | None" = None

    @property
    def itself(self) -> "StoreConnection":
        """What a pool lends is a proxy, which answers nothing more once the session has ended."""
        return self

    @property
    def is_former(self) -> bool:
        """Whether this process has met a newer leader since. The node of this session may not know that yet: it
        refuses what follows a row that only the newer one has, and what it accepts is lost."""
        return self.leader is not None and self.leader[0].is_older(self.leader[1])

    def _process_log_message(self, fields: dict[str, str], last_query: str) -> None:
        if fields.get("R") == _SYNCHRONOUS_WAIT:
            self.is_unreplicated = True
        super()._process_log_message(fields, last_query)


def require_replicated(connection: Any) -> None:
    """After a write: one that was interrupted while it waited for its standby is not known to be durable."""
    if connection.is_unreplicated:
        raise NotReplicated("the wait for the synchronous standby was interrupted")


async def connect_writable(url: str, **options: Any) -> StoreConnection:
    """`timeout` of the options is for all hosts together."""
    return await _hosts_of(url).connect(**options)


class LeaderWatch:
    """Meets a leader that was promoted while the former one, which is not fenced, still answers every session."""

    def __init__(self, url: str, *, timeout: float, **options: Any) -> None:
        self._hosts = _hosts_of(url)
        self._timeout, self._options = timeout, options

    @property
    def is_needed(self) -> bool:
        """With one host there is no other leader."""
        return self._hosts.are_several

    async def turn(self) -> None:
        await self.probe()
        await asyncio.sleep(PROBE_SECONDS)

    async def probe(self) -> None:
        await self._hosts.probe(timeout=self._timeout, **self._options)


class _Hosts:
    """Of one URL; begins with the host that was writable last. All sessions of a process to it share what they know."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = list(urls)
        self._newest: Leader = (0, 0)

    async def connect(self, *, timeout: float, **options: Any) -> StoreConnection:
        async def opened(url: str) -> StoreConnection:
            connection = await self._connect_one(url, timeout=timeout, **options)
            self._urls.sort(key=lambda each: each != url)
            return connection

        async with asyncio.timeout(timeout):
            return await _first_of([partial(opened, url) for url in self._urls])

    @property
    def are_several(self) -> bool:
        return len(self._urls) > 1

    async def probe(self, **options: Any) -> None:
        """Asks each host by a session of its own; sessions to a leader of before are former ones from then on."""
        sessions = [self._connect_one(url, **options) for url in self._urls]
        for found in await asyncio.gather(*sessions, return_exceptions=True):
            if isinstance(found, StoreConnection):
                found.terminate()

    async def _connect_one(self, url: str, **options: Any) -> StoreConnection:
        connection: StoreConnection = await asyncpg.connect(url, **{"connection_class": StoreConnection, **options})
        try:
            connection.leader = self, self._writable(await connection.fetchrow(_STATE))
        except BaseException:
            connection.terminate()
            raise
        return connection

    def is_older(self, found: Leader) -> bool:
        return found[0] == self._newest[0] and found < self._newest

    def _writable(self, state: Any) -> Leader:
        """A node of an older timeline was the leader once, and what it has recorded since is lost."""
        if state["read_only"] or state["timeline"] is None:
            raise NotWritable("the node is a standby or read-only")
        found = state["cluster"], int(state["timeline"], 16)
        if self.is_older(found):
            raise NotWritable("a newer leader was promoted")
        self._newest = found
        return found


@cache
def _hosts_of(url: str) -> _Hosts:
    return _Hosts(single_host_urls(url))


async def _first_of(attempts: Sequence[Callable[[], Awaitable[StoreConnection]]]) -> StoreConnection:
    """The first that succeeds; the others are closed. When all fail, the reason of the last."""
    waiting, running = list(attempts), set[asyncio.Task[StoreConnection]]()
    failure: BaseException = NotWritable("no host")
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.ensure_future(waiting.pop(0)()))
            done, running = await asyncio.wait(
                running, timeout=HEAD_START_SECONDS if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if (problem := task.exception()) is None:
                    running |= done - {task}
                    return task.result()
                failure = problem
        raise failure
    finally:
        await _closed(running)


async def _closed(tasks: set["asyncio.Task[StoreConnection]"]) -> None:
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(result, BaseException):
            result.terminate()
