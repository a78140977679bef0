"""The proof page: serves the exact proof of a challenge while it is there, from memory or from a directory."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Final, Protocol

from aop.base.ids import is_safe_identifier

PROOF_PREFIX: Final = "/.well-known/platform/challenges/"
MAX_PROOF_BYTES: Final = 4096


class Proofs(Protocol):
    async def find(self, challenge_id: str) -> bytes | None:
        """The exact bytes to serve for a safe identifier, None when there are none."""


class ProofPage:
    """Proofs in memory: put before completing the challenge, removed after it."""

    def __init__(self) -> None:
        self._proofs: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"ProofPage({len(self._proofs)} proofs)"

    def put(self, challenge_id: str, proof: str) -> None:
        if not is_safe_identifier(challenge_id):
            raise ValueError("a challenge id is a safe identifier")
        self._proofs[challenge_id] = proof.encode()

    def remove(self, challenge_id: str) -> None:
        self._proofs.pop(challenge_id, None)

    async def find(self, challenge_id: str) -> bytes | None:
        return self._proofs.get(challenge_id)


class ProofDirectory:
    """Proofs as files: the name is the challenge id, the content the proof without a newline."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def find(self, challenge_id: str) -> bytes | None:
        return await asyncio.to_thread(self._read, challenge_id)

    def _read(self, challenge_id: str) -> bytes | None:
        # A safe identifier starts with a letter or digit and holds no slash, so it names nothing but a file here;
        # what the file must not do is point elsewhere or block.
        try:
            opened = os.open(self._folder / challenge_id, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            regular = stat.S_ISREG(os.fstat(opened).st_mode)
            content = os.read(opened, MAX_PROOF_BYTES + 1) if regular else None
        finally:
            os.close(opened)
        return None if content is None or len(content) > MAX_PROOF_BYTES else content


async def proof_at(proofs: Proofs, path: str) -> bytes | None:
    """The proof a path asks for; None for every other path."""
    challenge_id = path.removeprefix(PROOF_PREFIX)
    if challenge_id == path or not is_safe_identifier(challenge_id):
        return None
    return await proofs.find(challenge_id)
