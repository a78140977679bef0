"""One stack, one browser and one page for all tests here; each finds the page as if it were new, with guards."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.console.browser import Tab, emptied, guarded, opened_page, opened_tab, running_browser
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


@pytest.fixture(scope="package")
def kept_page(browser: Browser) -> Iterator[Page]:
    """A page that has run the Console before opens it in half the time."""
    with opened_page(browser) as page:
        yield page


@pytest.fixture
def tab(kept_page: Page, stack: Stack) -> Iterator[Tab]:
    """Whatever a test does, the page logs no error and asks nobody but the Gateway."""
    try:
        with guarded(kept_page, stack) as opened:
            yield opened
            opened.require_clean()
    finally:
        emptied(kept_page, stack)


@pytest.fixture
def new_tab(browser: Browser, stack: Stack) -> Iterator[Tab]:
    """The same in a page that nobody has used."""
    with opened_tab(browser, stack) as opened:
        yield opened
        opened.require_clean()
