"""Every test here proves that it leaves no process behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import require_none_left


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    require_none_left(str(tmp_path))
