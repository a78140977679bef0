"""Which tests one worker runs together, so that what they share is started once, and which come first."""

from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has none

_SHARED = frozenset({"cli", "conformance", "console", "docs"})
"""Folders whose tests share a platform or the sample Agents: a second worker would start all of that again."""
_FIRST = (
    *("console", "docs", "cli", "proof", "performance", "local", "gateway"),
    *("loop", "units", "telemetry", "conformance", "router"),
)
"""Long ones before short ones, so that all workers end at about the same time."""


class ByWhatIsShared(LoadScopeScheduling):  # type: ignore[misc]  # a class without types
    def _split_scope(self, nodeid: str) -> str:
        file, folder = nodeid.partition("::")[0], _folder(nodeid)
        return folder if folder in _SHARED else file


def by_length(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    places = {folder: place for place, folder in enumerate(_FIRST)}
    return sorted(items, key=lambda item: places.get(_folder(item.nodeid), len(places)))


def _folder(nodeid: str) -> str:
    return nodeid.removeprefix("tests/").partition("/")[0]
