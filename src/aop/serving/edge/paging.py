"""Lists in pages: a limit, and a cursor that belongs to one list, its path, its filters and its limit."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from aop.base.canonical import from_base64url, to_base64url
from aop.base.ids import SAFE_IDENTIFIER
from aop.base.semver import MAX_VERSION_LENGTH
from aop.contracts.errors import InvalidRequest, Violation
from aop.serving.edge.query import QueryRules
from aop.serving.edge.request import Request

P = TypeVar("P")

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
PAGE_BYTES = 4 * 1024 * 1024
_CURSOR_LENGTH = 1024
_SEAL_BYTES = 16
_LIMIT = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)

# The parts of positions. Anyone can seal a cursor, so one made up must be as harmless as ours: each part has its form.
SafeIdentifier = Annotated[str, msgspec.Meta(pattern=rf"\A{SAFE_IDENTIFIER.pattern}\Z")]
HexIdentifier = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
VersionText = Annotated[str, msgspec.Meta(pattern=rf"\A[-+.0-9A-Za-z]{{1,{MAX_VERSION_LENGTH}}}\Z")]


def _limit(text: str) -> int:
    if _LIMIT.fullmatch(text) is None or int(text) > MAX_LIMIT:
        raise ValueError("not a limit")
    return int(text)


def _cursor(text: str) -> str:
    if not 1 <= len(text) <= _CURSOR_LENGTH:
        raise ValueError("not a cursor")
    return text


PAGE_QUERY: QueryRules = {"limit": _limit, "cursor": _cursor}
"""The two parameters of every list; a list adds its own filters."""


class SealedPosition(Generic[P]):
    """A position as the text of one parameter, bound to what it belongs to."""

    def __init__(self, parameter: str, rule: str, position: type[P], binding: bytes) -> None:
        self.refused = Violation(f"/{parameter}", rule)
        self._parameter = parameter
        self._position = position
        self._binding = binding

    def text(self, position: P) -> str:
        encoded = msgspec.json.encode(position)
        return to_base64url(self._seal(encoded) + encoded)

    def of(self, request: Request) -> P | None:
        text = request.query.get(self._parameter)
        return None if text is None else self._read(text)

    def _read(self, text: str) -> P:
        try:
            raw = from_base64url(text)
            seal, encoded = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
            after = msgspec.json.decode(encoded, type=self._position)
        except (ValueError, msgspec.DecodeError):
            raise InvalidRequest(self.refused) from None
        if seal != self._seal(encoded) or not _storable(after):
            raise InvalidRequest(self.refused)
        return after

    def _seal(self, encoded: bytes) -> bytes:
        return hashlib.sha256(encoded + self._binding).digest()[:_SEAL_BYTES]


class Paging(Generic[P]):
    """Where a list is to go on, and the cursor for where it stops. `P` is the list's position: a tuple of the parts
    above, integers with bounds, and times.

    The seal binds a cursor to its list. It is unkeyed, because a cursor grants nothing: rights are checked each time.
    """

    def __init__(self, name: str, position: type[P], request: Request) -> None:
        self.limit: int = request.query.get("limit", DEFAULT_LIMIT)
        binding = _binding(name, request.path, request.query, self.limit)
        self._sealed = SealedPosition("cursor", "cursor", position, binding)
        self.after: P | None = self._sealed.of(request)

    def cursor(self, position: P) -> str:
        return self._sealed.text(position)

    def next_cursor(self, last: P | None) -> str | msgspec.UnsetType:
        """For an answer whose list goes on after this position; None is its end."""
        return msgspec.UNSET if last is None else self.cursor(last)


class ListAnswer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`nextCursor` is there only when more exists."""

    items: Sequence[Any]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


def _storable(position: object) -> bool:
    """A cursor may be made up; its parts must at least be values that a store can compare with."""
    return all(map(_part_storable, position if isinstance(position, tuple) else ()))


def _part_storable(part: object) -> bool:
    if isinstance(part, int):
        return -(2**63) <= part < 2**63
    if isinstance(part, datetime):
        return part.tzinfo is UTC  # any other offset may lead outside the calendar
    return not isinstance(part, str) or "\0" not in part


def _binding(name: str, path: Mapping[str, str], query: Mapping[str, Any], limit: int) -> bytes:
    filters = {key: str(value) for key, value in query.items() if key not in PAGE_QUERY}
    return msgspec.json.encode([name, sorted(path.items()), sorted(filters.items()), limit])
