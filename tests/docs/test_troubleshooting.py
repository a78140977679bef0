"""A symptom of the page is something that the program says today."""

import html
import json
import re

import pytest

from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
SYMPTOMS = re.findall(r'^### "(.*)"$', PAGE, re.MULTILINE)
_SAID_IN = ("src/aop/**/*.py", "console/src/**/*.tsx", "tools/*.py")
_JOINED = re.compile(r'"\n\s*f?"')
"""A text that continues on the next line of the source."""


@pytest.fixture(scope="module")
def said() -> str:
    """Every text that the program can print; what is filled in stays as it is in the source."""
    sources = [path.read_text("utf-8") for pattern in _SAID_IN for path in ROOT.glob(pattern)]
    codes = json.loads((ROOT / "contracts/platform-error/codes.json").read_bytes())["codes"]
    return _JOINED.sub("", html.unescape("\n".join(sources)).replace("{{", "{")) + "\n".join(
        entry["message"] for entry in codes
    )


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_a_message_of_the_page_is_one_that_the_program_prints(symptom: str, said: str) -> None:
    for part in filter(None, (part.strip() for part in symptom.split("…"))):
        assert part in said


def test_every_symptom_has_its_cause_and_what_to_do() -> None:
    assert SYMPTOMS
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        assert section.count("**Why.**") == section.count("**Do.**") == 1, section.splitlines()[0]
