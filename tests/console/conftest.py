"""One stack and one browser for all tests here, one guarded tab for each."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.console.browser import Tab, opened_tab, running_browser
from tests.console.stack import Stack, running_stack


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # For this package only: its event loop would be in the way of asynchronous tests.
    with running_browser() as running:
        yield running


@pytest.fixture
def tab(browser: Browser, stack: Stack) -> Iterator[Tab]:
    """Whatever a test does, the page logs no error and asks nobody but the Gateway."""
    with opened_tab(browser, stack) as opened:
        yield opened
        opened.require_clean()
