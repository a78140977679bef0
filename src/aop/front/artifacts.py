"""The artifacts of a stream that is passed on: one may begin with an append, and may come once more as a whole.

The Router takes neither: a piece has a beginning, and what was delivered cannot be taken back.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from aop.a2a.dialect import AgentResponse
from aop.a2a.rpc import RequestId, success
from aop.a2a.v0_3 import Kind, text_of

_HELD_BYTES: Final = 512
"""The memory that one artifact takes."""


class StreamedArtifacts:
    """Of one stream. It keeps a digest of each artifact and no text; `begun_by_append` is called for each such one."""

    def __init__(self, request_id: RequestId, begun_by_append: Callable[[], None]) -> None:
        self._request_id = request_id
        self._begun_by_append = begun_by_append
        self._begun: dict[str, hashlib._Hash] = {}

    @property
    def held(self) -> int:
        return _HELD_BYTES * len(self._begun)

    def adding(self, artifact_id: str) -> Callable[[bytes], None]:
        """For the further texts of an artifact that has begun."""
        return self._begun[artifact_id].update

    def passed_on(self, seen: AgentResponse) -> AgentResponse | None:
        """What the Router gets of an event; None when it is the whole of what it got in pieces."""
        result = seen.result
        if result is None or result.kind != Kind.ARTIFACT or result.artifact is msgspec.UNSET or seen.is_foreign:
            return seen
        name, parts = result.artifact.artifact_id, result.artifact.parts
        begun = self._begun.get(name)
        if begun is None:
            self._begun[name] = _added(hashlib.sha256(), parts)
            if result.append is not True:
                return seen
            self._begun_by_append()
            first = msgspec.structs.replace(result, append=False)
            return AgentResponse(success(self._request_id, msgspec.json.encode(first)), first, is_last=seen.is_last)
        if result.append is True:
            _added(begun, parts)
            return seen
        return None if _added(hashlib.sha256(), parts).digest() == begun.digest() else seen


def _added(digest: "hashlib._Hash", parts: Iterable[msgspec.Raw]) -> "hashlib._Hash":
    """Texts as they follow each other, whatever their pieces; any other part as it is spelt."""
    for part in parts:
        text = text_of(part)
        digest.update(b"\0" + bytes(part) if text is None else text[1].encode())
    return digest
