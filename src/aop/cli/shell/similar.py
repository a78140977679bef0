"""Finds the name that a person may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_MAX_NAMES: Final = 1000
_MAX_LENGTH: Final = 128
_CUTOFF: Final = 0.7


def similar(name: str, names: Iterable[str]) -> str | None:
    """The name that looks most like this one; None when none does. Capital letters do not count.

    >>> similar("aop:sumarizer", ["aop:summarizer", "aop:meeting-brief"])
    'aop:summarizer'
    """
    known = {one.lower(): one for _, one in zip(range(_MAX_NAMES), names, strict=False)}
    found = get_close_matches(name[:_MAX_LENGTH].lower(), known, n=1, cutoff=_CUTOFF)
    return known[found[0]] if found and known[found[0]] != name else None
