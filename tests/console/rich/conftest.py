"""One filled stack for the tests here; the tabs of the folder above open it instead of the empty one."""

from collections.abc import Iterator

import pytest

from tests.console.rich.stack import Rich, running_rich_stack
from tests.console.stack import Stack


@pytest.fixture(scope="package")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rich]:
    with running_rich_stack(tmp_path_factory.mktemp("rich")) as running:
        yield running


@pytest.fixture(scope="package")
def stack(rich: Rich) -> Stack:
    return rich.stack
