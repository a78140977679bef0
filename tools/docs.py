"""Writes the generated reference, builds the documentation site strictly, or serves it on this machine.

`./dev docs` writes and builds, `./dev docs serve` shows the site and follows changes, `./dev docs check` writes nothing
and fails when a generated page is not current or the site does not build.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools.contract_bundle import ROOT
from tools.docs_api import api_pages, documents_page
from tools.docs_connect import connect_page
from tools.docs_errors import errors_page
from tools.docs_reasons import reasons_page
from tools.docs_settings import settings_page

REFERENCE = ROOT / "docs" / "reference"
SITE = ROOT / ".dev" / "site"


def generated() -> Mapping[Path, str]:
    """Every generated page by its place; the command page is written by tools.cli_reference."""
    pages = {REFERENCE / "api" / name: text for name, text in api_pages().items()}
    pages |= {
        REFERENCE / "connect.md": connect_page(),
        REFERENCE / "documents.md": documents_page(),
        REFERENCE / "errors.md": errors_page(),
        REFERENCE / "reasons.md": reasons_page(),
        REFERENCE / "settings.md": settings_page(),
    }
    return pages


def write() -> None:
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def outdated() -> list[str]:
    pages = generated()
    wrong = [path for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
    wrong += [path for path in (REFERENCE / "api").glob("*.md") if path not in pages]
    return sorted(str(path.relative_to(ROOT)) for path in wrong)


def build(folder: Path) -> int:
    """Says nothing unless a warning or an error ends it. (With --quiet, warnings would not be counted.)"""
    run = _mkdocs("build", "--strict", "--clean", "--site-dir", str(folder), output=subprocess.PIPE)
    if run.returncode:
        print(run.stdout + run.stderr)
    return run.returncode


def check() -> int:
    wrong = outdated()
    for name in wrong:
        print(f"{name} is not what the contracts and settings say; run: ./dev docs")
    with tempfile.TemporaryDirectory() as folder:
        return build(Path(folder)) or bool(wrong)


def _mkdocs(*arguments: str, output: int | None = None) -> "subprocess.CompletedProcess[str]":
    # The notice is about a later major version, which the lock file does not let in.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # noqa: TID251
    command = [sys.executable, "-m", "mkdocs", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, text=True, stdout=output, stderr=output)


def main(arguments: list[str]) -> int:
    if arguments == ["check"]:
        return check()
    if arguments not in ([], ["serve"]):
        print("say nothing to write the reference and build the site, or: serve, check")
        return 2
    write()
    if arguments:
        return _mkdocs("serve", "--strict").returncode
    outcome = build(SITE)
    if outcome == 0:
        print(f"the site is in {SITE.relative_to(ROOT)}; open its index.html, or run: ./dev docs serve")
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
