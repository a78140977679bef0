"""Texts that people read use the common word where there is one."""

import re
from pathlib import Path

from tests.docs.blocks import ROOT

PLAIN = {
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"did not end well|\bnot well\b|\bin trouble\b": "failed",
    r"error channel": "stderr",
    r"no way down": "no downgrade",
    r"\bfor ever\b": "permanent, never, without end",
}
# Records of decisions and of what the proof found may quote; the changelog tells of what was.
_RECORDS = ("docs/adr/", "docs/reliability/", "docs/acceptance.md")
_READ = (
    "*.md",
    "docs/**/*.md",
    "console/src/**/*.tsx",
    "console/src/**/*.ts",
    "src/aop/cli/*.py",
    "src/aop/local/*.py",
)


def _texts() -> list[Path]:
    found = sorted({path for pattern in _READ for path in ROOT.glob(pattern)})
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(_RECORDS)]


def test_no_text_uses_a_word_that_has_a_plain_one() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}; write {plain}"
        for path in _texts()
        for old, plain in PLAIN.items()
        for match in re.finditer(old, path.read_text("utf-8"))
    ]
    assert found == []
