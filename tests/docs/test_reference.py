"""The generated reference is complete, and the pages that people write about it leave nothing out."""

import json
import re
import shlex
from pathlib import Path

import pytest

from aop.cli.commands import COMMANDS
from tests.contracts.test_reasons import OPEN
from tests.docs.blocks import ROOT, blocks_of, pages
from tests.support.every import every
from tools.contract_bundle import bundled, schemas, surfaces
from tools.contracts import operations_of
from tools.docs import REFERENCE, outdated
from tools.docs_setting_meanings import MEANINGS
from tools.docs_settings import setting_names
from tools.docs_shapes import document_heading

CODES = [entry["code"] for entry in json.loads((ROOT / "contracts/platform-error/codes.json").read_bytes())["codes"]]


REASONS = json.loads((ROOT / "contracts/platform-error/reasons.json").read_bytes())["reasons"]


def headings(page: str) -> set[str]:
    return set(re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE))


def test_every_generated_page_is_current() -> None:
    assert outdated() == []


@pytest.mark.parametrize("name", sorted(surfaces()))
def test_the_page_of_a_surface_shows_every_operation_with_its_codes(name: str) -> None:
    page = f"reference/api/{name.removesuffix('.v1')}.md"
    text, surface = (ROOT / "docs" / page).read_text("utf-8"), bundled(surfaces()[name])
    for method, path, operation in operations_of(surface):
        assert operation["summary"] in headings(page)
        assert f"`{method} {path}`" in text
        assert all(f"[{code}](../errors.md#" in text for code in operation.get("x-codes", []))


def test_the_page_of_documents_shows_every_schema() -> None:
    shown = headings("reference/documents.md")
    for identity in schemas():
        name, _, version = identity.removeprefix("urn:aop:contract:").rpartition(":")
        assert document_heading(f"{name}.{version}") in shown


def test_every_error_code_is_in_the_reference_and_in_the_guide_to_recovery() -> None:
    assert set(CODES) <= headings("reference/errors.md")
    assert set(CODES) <= headings("guides/recover.md")


def test_every_reason_is_in_the_reference_and_in_the_guide() -> None:
    """With its sentence and next step; the page of codes leads there, and the guide says where to look."""
    text, codes = ((ROOT / "docs/reference" / page).read_text("utf-8") for page in ("reasons.md", "errors.md"))
    guide = (ROOT / "docs/guides/why-a-call-failed.md").read_text("utf-8")
    for entry in REASONS:
        word = entry["reason"]
        section = text.partition(f"\n## {word}\n")[2].partition("\n## ")[0]
        assert entry["sentence"] in section
        assert entry["action"] in section
        assert f"[{word}](reasons.md#{word})" in codes
        assert f"`{word}`" in guide or word in OPEN


@pytest.mark.rows("SAFE-12")
def test_the_guide_to_recovery_tells_what_the_contract_says_of_an_unknown_acceptance() -> None:
    (entry,) = [entry for entry in REASONS if entry["reason"] == "acceptance_unknown"]
    guide = " ".join((ROOT / "docs/guides/recover.md").read_text("utf-8").split())
    (section,) = re.findall(r"### acceptance_unknown(.*?) ##", guide)
    assert entry["sentence"] in section
    assert "aop trace TRACE" in section
    assert "aop status" in section


@pytest.mark.rows("SAFE-12")
@every("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_says_that_an_error_without_ids_means_no_invocation_without_naming_the_exception(page: Path) -> None:
    """Contract 8.3: an acceptance can be unknown, and who takes that for a refusal has the work done twice."""
    for part in re.split(r"\n(?=\||- |\d+\. |\n)", page.read_text("utf-8")):
        said = " ".join(part.split())
        if re.search(r"(there is|:|,) no Invocation\b|answered before acceptance|was never accepted", said):
            assert "acceptance_unknown" in said, said


def test_every_setting_that_is_read_has_a_meaning_and_no_other_has() -> None:
    assert setting_names() == set(MEANINGS)
    assert all(f"`{name}`" in (REFERENCE / "settings.md").read_text("utf-8") for name in MEANINGS)


def test_every_command_in_a_page_exists_with_its_options() -> None:
    """Those for other machines too, which are not run."""
    known = {entry.name: {name for option in entry.command().params for name in option.opts} for entry in COMMANDS}
    known |= {"router": {"--help", "--workers"}}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in blocks_of(page):
            if block.word in {"sh", "shell"}:
                for words in _commands(block.text):
                    name = max(
                        (name for name in known if words[: len(name.split())] == name.split()), key=len, default=""
                    )
                    assert name or words[0].startswith("-"), f"{page}:{block.line}: aop {' '.join(words)}"
                    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
                    assert options <= known.get(name, options) | {"--help"}, f"{page}:{block.line}: {options}"


def _commands(text: str) -> list[list[str]]:
    """The words after `aop`, up to where the shell takes over again."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        match = re.search(r"(?:^|\$\(|\| |\./dev |[A-Z_]+=\S+ )aop ([a-z-].*)$", line)
        if match and not line.startswith("alias"):
            lexer = shlex.shlex(re.split(r"\s(?:\||>|2>|\|\||#)", match[1])[0], posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            try:
                found.append([word for word in lexer if word not in {"|", ")", "||"}])
            except ValueError:
                continue
    return found
