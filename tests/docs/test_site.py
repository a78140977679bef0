"""The site is built strictly, has every page, and loads nothing from anywhere else."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tools.docs import build
from tools.docs_links import on_page_markdown

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
