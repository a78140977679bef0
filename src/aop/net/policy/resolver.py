"""Resolves names within bounds: a name server that hangs costs its own callers their time and no others."""

import asyncio
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address


class NameNotResolved(Exception):
    """The host has no address: the lookup failed, came back empty or was not made."""


# Blocking; called in a thread. An OSError or ValueError means that the name has no address.
Lookup = Callable[[str], Sequence[str]]
Addresses = tuple[str, ...]


def system_lookup(host: str) -> Sequence[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


@dataclass(frozen=True, slots=True)
class Bounds:
    threads: int = 16
    waiting: int = 256
    lookup_seconds: float = 5.0
    reuse_seconds: float = 5.0
    remembered: int = 1024


@dataclass(eq=False, slots=True)
class _Pending:
    """One lookup under way, shared by all callers that need its host; the answer of a failed one is None."""

    host: str
    expires_at: float
    answer: asyncio.Future[Addresses | None] = field(repr=False)


class Resolver:
    """Belongs to one event loop.

    Threads are made per lookup and are daemons: one that hangs in the system's resolver can be abandoned, which a
    pooled thread cannot, neither at the deadline nor when the process ends.
    """

    def __init__(
        self,
        lookup: Lookup = system_lookup,
        bounds: Bounds = Bounds(),  # noqa: B008  (frozen)
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lookup = lookup
        self._bounds = bounds
        self._monotonic = monotonic
        self._answers: dict[str, tuple[float, Addresses]] = {}
        self._pending: dict[str, _Pending] = {}
        self._waiting: deque[_Pending] = deque()
        self._running: set[_Pending] = set()

    async def addresses(self, host: str, deadline: float) -> Addresses:
        """The addresses in the system's order without repeats, from an answer at most `reuse_seconds` old.

        The deadline is in loop time and ends in TimeoutError; every other failure is NameNotResolved.
        """
        ready = self.ready(host)
        if ready is not None:
            return ready
        pending = self._pending.get(host)
        if pending is None or _has_expired(pending):
            pending = self._begin(host)
        answer = await self._await(pending, deadline)
        if not answer:
            raise NameNotResolved(host)
        return answer

    def ready(self, host: str) -> Addresses | None:
        """The same without waiting; None when a lookup is needed."""
        cached = self._answers.get(host)
        if cached is not None and self._monotonic() - cached[0] < self._bounds.reuse_seconds:
            return cached[1]
        return (host,) if _is_address(host) else None

    async def _await(self, pending: _Pending, deadline: float) -> Addresses | None:
        try:
            async with asyncio.timeout_at(min(deadline, pending.expires_at)):
                return await asyncio.shield(pending.answer)
        except TimeoutError:
            if deadline <= pending.expires_at:
                raise
            self._forget(pending)
            raise NameNotResolved(pending.host) from None

    def _begin(self, host: str) -> _Pending:
        loop = asyncio.get_running_loop()
        now = loop.time()
        free = len(self._running) < self._bounds.threads
        all_hang = not free and all(map(_has_expired, self._running))
        if all_hang or (not free and len(self._waiting) >= self._bounds.waiting):
            raise NameNotResolved(host)
        pending = _Pending(host, now + self._bounds.lookup_seconds, loop.create_future())
        self._pending[host] = pending
        if free:
            self._start(pending, loop)
        else:
            self._waiting.append(pending)
        return pending

    def _start(self, pending: _Pending, loop: asyncio.AbstractEventLoop) -> None:
        self._running.add(pending)
        thread = threading.Thread(target=self._run, args=(pending, loop), name="lookup", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no thread to give
            loop.call_soon(self._finish, pending, None)

    def _run(self, pending: _Pending, loop: asyncio.AbstractEventLoop) -> None:
        answer: Addresses | None = None
        try:
            answer = tuple(dict.fromkeys(self._lookup(pending.host)))
        except (OSError, ValueError):
            pass
        finally:
            with suppress(RuntimeError):  # the loop is closed, and no caller waits any more
                loop.call_soon_threadsafe(self._finish, pending, answer)

    def _finish(self, pending: _Pending, answer: Addresses | None) -> None:
        self._running.discard(pending)
        in_time = self._forget(pending)
        if in_time and answer:
            self._remember(pending.host, answer)
        if not pending.answer.done():
            pending.answer.set_result(answer)
        self._start_next()

    def _start_next(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and len(self._running) < self._bounds.threads:
            pending = self._waiting.popleft()
            if self._pending.get(pending.host) is pending and not _has_expired(pending):
                self._start(pending, loop)

    def _forget(self, pending: _Pending) -> bool:
        """Whether this was still the lookup that new callers would share."""
        if self._pending.get(pending.host) is not pending:
            return False
        del self._pending[pending.host]
        return True

    def _remember(self, host: str, answer: Addresses) -> None:
        now = self._monotonic()
        self._answers.pop(host, None)
        for old, (since, _) in list(self._answers.items()):
            # The oldest come first: what follows a fresh one is fresh.
            if now - since < self._bounds.reuse_seconds and len(self._answers) < self._bounds.remembered:
                break
            del self._answers[old]
        self._answers[host] = (now, answer)


def _has_expired(pending: _Pending) -> bool:
    return pending.expires_at <= asyncio.get_running_loop().time()


@lru_cache(maxsize=1024)
def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
