"""Looks whether an Agent serves a proof, before the platform is asked to look."""

import asyncio
from contextlib import suppress
from typing import Final

from aop.agent.calls import target_of
from aop.agent.proofs import MAX_PROOF_BYTES
from aop.net.http import HttpClient, HttpError
from aop.net.origin import Endpoint

_PAUSE_SECONDS: Final = 0.25
_CONNECT_SECONDS: Final = 3.0


async def wait_until_served(url: str, proof: str, seconds: float) -> str | None:
    """None once the URL answers with exactly the proof; else, when the time is over, what was seen last."""
    client, endpoint = HttpClient(idle_seconds=2, connect_seconds=_CONNECT_SECONDS), Endpoint.parse(url)
    seen = "nothing was asked yet"
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (found := await _seen(client, endpoint, proof.encode())) is not None:
                    seen = found
                    await asyncio.sleep(_PAUSE_SECONDS)
                return None
        return seen
    finally:
        await client.close()


async def _seen(client: HttpClient, endpoint: Endpoint, proof: bytes) -> str | None:
    try:
        answer = await client.request(
            await target_of(endpoint),
            "GET",
            endpoint.path,
            headers=[(b"accept", b"text/plain")],
            deadline=asyncio.get_running_loop().time() + _CONNECT_SECONDS,
            max_body=MAX_PROOF_BYTES,
        )
    except (HttpError, OSError) as problem:
        return f"no answer ({type(problem).__name__})"
    if answer.status != 200:
        return f"it answers with status {answer.status}"
    return None if answer.body == proof else "it answers with something else"
