"""How large the automaton of a pattern is: a short text can stand for megabytes, as `\\p{L}{200}` does."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import jsonschema_rs

MAX_PATTERN_CHARACTERS = 512
MAX_AUTOMATON_BYTES = 8 * 1024 * 1024
"""Of all patterns of one schema."""
MAX_TRIED_BYTES = 64 * 1024 * 1024
"""What may be spent on compiling the patterns of one Card; every size that is tried is paid for."""
_SIZES = tuple(1024 << power for power in range(14))


class PatternsTooLarge(ValueError):
    """A pattern does not run in linear time, or the patterns are too large when compiled."""


class TriedBytesSpent(PatternsTooLarge):
    """The patterns take longer to compile than their Card may take."""


class PatternBudget:
    """What may still be spent on compiling; shared by all schemas of a Card."""

    def __init__(self, tried_bytes: int = MAX_TRIED_BYTES) -> None:
        self._left = tried_bytes
        self.automaton_bytes = 0
        """Of all patterns measured so far."""

    def sizes(self, patterns: Iterable[str]) -> Mapping[str, int]:
        """Of the automaton of each pattern, up to the next power of two."""
        found = {pattern: self._size(pattern) for pattern in patterns}
        if sum(found.values()) > MAX_AUTOMATON_BYTES:
            raise PatternsTooLarge("the patterns of a schema are too large when compiled")
        self.automaton_bytes += sum(found.values())
        return found

    def _size(self, pattern: str) -> int:
        for size in _SIZES:
            self._left -= size
            if self._left < 0:
                raise TriedBytesSpent("the patterns of the Card are too large when compiled")
            if _compiles(pattern, size):
                return size
        raise PatternsTooLarge("a pattern does not run in linear time, or is too large when compiled")


def patterns_of(part: Mapping[str, object]) -> Iterator[str]:
    """Those a subschema holds itself."""
    named = part.get("patternProperties")
    found = (part.get("pattern"), *(named if isinstance(named, dict) else ()))
    return (pattern for pattern in found if isinstance(pattern, str))


@lru_cache(maxsize=1024)
def _compiles(pattern: str, max_bytes: int) -> bool:
    options = jsonschema_rs.RegexOptions(size_limit=max_bytes)
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)
    except jsonschema_rs.ValidationError:
        return False
    return True
