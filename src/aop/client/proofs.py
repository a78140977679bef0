"""Serves a proof while the platform fetches it, and checks first that it can be read."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from aop.contracts.publication import IssuedChallenge
from aop.net.http import HttpClient, HttpError, Target
from aop.net.origin import Endpoint
from aop.net.policy import NameNotResolved, Resolver

ServeProof = Callable[[IssuedChallenge], AbstractContextManager[None]]
"""Serves the proof of a challenge at its URL for as long as the context is open."""

_PAUSE_SECONDS: Final = 0.25
_REQUEST_SECONDS: Final = 3.0
_MAX_BYTES: Final = 4096


def proof_folder(folder: Path) -> ServeProof:
    """Serves proofs as files of the folder that the Agent's own proof page reads (PLATFORM_AGENT_CHALLENGE_DIRECTORY).

    A file is named by its challenge and removed when the challenge is done. OSError when it cannot be written.
    """

    @contextmanager
    def serve(challenge: IssuedChallenge) -> Iterator[None]:
        file = folder / challenge.challenge_id
        try:
            file.write_bytes(challenge.proof.encode())
            yield
        finally:
            file.unlink(missing_ok=True)

    return serve


async def wait_until_served(challenge: IssuedChallenge, seconds: float) -> str | None:
    """None when the URL answers with exactly the proof. After the time is over: the last problem."""
    probe, last_problem = _ProofProbe(challenge), "no answer yet"
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (problem := await probe.problem()) is not None:
                    last_problem = problem
                    await asyncio.sleep(_PAUSE_SECONDS)
                return None
        return last_problem
    finally:
        await probe.close()


class _ProofProbe:
    """Reads the proof of one challenge from where the platform will read it."""

    def __init__(self, challenge: IssuedChallenge) -> None:
        self._endpoint = Endpoint.parse(challenge.challenge_url)
        self._proof = challenge.proof.encode()
        self._client = HttpClient(idle_seconds=2, connect_seconds=_REQUEST_SECONDS)
        self._resolver = Resolver()

    async def close(self) -> None:
        await self._client.close()

    async def problem(self) -> str | None:
        endpoint, deadline = self._endpoint, asyncio.get_running_loop().time() + _REQUEST_SECONDS
        try:
            address, *_ = await self._resolver.addresses(endpoint.host, deadline)
            answer = await self._client.request(
                Target(endpoint.scheme, endpoint.host, endpoint.port, address),
                "GET",
                endpoint.path,
                headers=[(b"accept", b"text/plain")],
                deadline=deadline,
                max_body=_MAX_BYTES,
            )
        except (HttpError, OSError, NameNotResolved) as error:
            return f"no answer ({type(error).__name__})"
        if answer.status != 200:
            return f"it answers with status {answer.status}"
        return None if answer.body == self._proof else "it answers with something else"
