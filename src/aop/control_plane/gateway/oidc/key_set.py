"""The provider's keys: one fetch at a time, and only callers whose key is not cached wait for it.

Keys are valid for ten minutes. They are fetched again before they expire, and stay in use meanwhile. An unknown key id
starts a fetch at most once a minute. Nothing is cached about key ids that strangers make up.
"""

import asyncio
from collections.abc import Callable, Mapping

from aop.base import json
from aop.contracts.errors import DependencyFailed, Overloaded, Unauthenticated
from aop.control_plane.gateway.oidc.public_key import PublicKey, signing_keys
from aop.net.http import HttpError
from aop.net.origin import Endpoint
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved
from aop.serving.edge.request_log import Level, UnitLog

KEYS_LIVE_SECONDS = 600.0
RENEWED_AFTER_SECONDS = 480.0
REFRESH_PAUSE_SECONDS = 60.0
OUTAGE_PAUSE_SECONDS = 1.0
MAX_WAITING = 512
_FETCH_SECONDS = 5.0
_MAX_BYTES = 256 * 1024
_MAX_KEYS = 256


class KeySet:
    def __init__(self, endpoint: Endpoint, peer: Peer, log: UnitLog, monotonic: Callable[[], float]) -> None:
        self._path = endpoint.path
        self._peer = peer
        self._log = log
        self._monotonic = monotonic
        self._keys: Mapping[str, PublicKey] = {}
        self._fetched_at = self._started_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._waiting = 0
        self._failure: str | None = None

    async def find(self, key_id: str) -> PublicKey:
        now = self._monotonic()
        age = now - self._fetched_at
        live = age < KEYS_LIVE_SECONDS
        key = self._keys.get(key_id) if live else None
        if key is None or age >= RENEWED_AFTER_SECONDS:
            self._start_fetch(now, REFRESH_PAUSE_SECONDS if live else OUTAGE_PAUSE_SECONDS)
        return key or await self._find_fetched(key_id)

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait({self._fetching})

    def _start_fetch(self, now: float, pause: float) -> None:
        if self._fetching is None and now - self._started_at >= pause:
            self._started_at = now
            self._fetching = asyncio.create_task(self._fetch(now))

    async def _find_fetched(self, key_id: str) -> PublicKey:
        """Finds a key of the fetch that runs, else of the last one. After a failure the key may exist nevertheless."""
        if self._fetching is not None:
            await self._wait(self._fetching)
        if self._failure is not None:
            raise DependencyFailed(self._failure)
        if key_id not in self._keys:
            raise Unauthenticated("unknown key id")
        return self._keys[key_id]

    async def _wait(self, fetching: "asyncio.Task[None]") -> None:
        # The caller is not authenticated yet, so no other limit counts those who wait here.
        if self._waiting >= MAX_WAITING:
            raise Overloaded("too many wait for the key set")
        self._waiting += 1
        try:
            await asyncio.wait({fetching})
        finally:
            self._waiting -= 1

    async def _fetch(self, now: float) -> None:
        failed_before, self._failure = self._failure, "key set: the fetch was canceled"
        try:
            self._keys = await self._read()
        except DependencyFailed as failure:
            self._failure = str(failure)
            if failed_before is None:
                self._log.event("oidc.keys_unavailable", level=Level.WARNING, cause=self._failure)
        else:
            self._failure, self._fetched_at = None, now
            if failed_before is not None:
                self._log.event("oidc.keys_available")
        finally:
            self._fetching = None

    async def _read(self) -> Mapping[str, PublicKey]:
        deadline, accept = asyncio.get_running_loop().time() + _FETCH_SECONDS, ((b"accept", b"application/json"),)
        try:
            answer = await self._peer.get(self._path, accept, deadline=deadline, max_body=_MAX_BYTES)
            keys = signing_keys(json.parse(answer.body)) if answer.status == 200 else None
        except (HttpError, NameNotResolved, TimeoutError, json.JsonRefused) as failure:
            raise DependencyFailed(f"key set: {type(failure).__name__}") from failure
        if keys is None or len(keys) > _MAX_KEYS:
            raise DependencyFailed("key set: not a JWKS document, or too large")
        return keys
