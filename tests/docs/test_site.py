"""The site is built strictly, has every page, and loads nothing from anywhere else."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.console.browser import running_browser
from tests.docs.blocks import ROOT
from tests.support.platform import LocalPlatform
from tools.docs import build
from tools.docs_links import on_page_markdown

pytestmark = pytest.mark.second_ring

_LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?([^\" >]+)|<link\b[^>]*\bhref=\"?([^\" >]+)", re.IGNORECASE
)
_STYLE_URL = re.compile(r"(?:url\(|@import )[\"']?(https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build(folder) == 0
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file()


@contextmanager
def served(folder: Path, port: int) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing is wrong with a request."""

    with ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{port}"
        server.shutdown()
        thread.join()


@pytest.mark.long
@pytest.mark.rows("DOOR-07")
def test_the_page_that_tries_the_api_calls_a_gateway_and_loads_nothing_from_elsewhere(
    site: Path, site_port: int, platform: tuple[LocalPlatform, int, dict[str, str]]
) -> None:
    run = platform[0].run
    with served(site, site_port) as origin, running_browser() as browser, browser.new_page() as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{origin}/reference/try.html")
        form = page.frame_locator("iframe")
        form.get_by_role("button", name="Authorize").first.click()
        form.locator("input[aria-label=auth-bearer-value]").fill(run["token"])
        form.locator(".modal-ux").get_by_role("button", name="Apply credentials").click()
        form.get_by_role("button", name="Close").first.click()
        form.locator(".servers input").fill(run["gateway"])
        form.locator("#operations-tag-status").click()
        operation = form.locator("#operations-status-readPlatformStatus")
        operation.locator(".opblock-summary-control").click()
        operation.get_by_role("button", name="Try it out").click()
        operation.get_by_role("button", name="Execute").click()
        answer = operation.locator(".live-responses-table .response").first
        expect(answer).to_contain_text('"controlPlane": "ok"')
        assert {url for url in asked if not url.startswith(("data:", origin))} == {f"{run['gateway']}/v1/status"}


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = [first or second for first, second in _LOADED.findall(page.read_text("utf-8"))]
        assert loaded
        assert [place for place in loaded if re.match(r"(?:https?:)?//", place)] == []
    for style in site.rglob("*.css"):
        assert not _STYLE_URL.search(style.read_text("utf-8")), style


def test_a_link_out_of_the_documentation_is_shown_as_its_text_and_must_lead_somewhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class File:
        abs_src_path = str(ROOT / "docs" / "guides" / "page.md")
        src_path = "guides/page.md"

    class Page:
        file = File

    def page(text: str) -> str:
        return on_page_markdown(text, page=Page, config={"docs_dir": str(ROOT / "docs")})

    assert page("see [the dashboard](../../contracts/README.md)") == "see the dashboard"
    assert page("see [Invoke](invoke.md#in-a-program)") == "see [Invoke](invoke.md#in-a-program)"
    assert caplog.records == []
    page("see [nothing](../../contracts/NOTHING.md)")
    assert "does not exist" in caplog.text
