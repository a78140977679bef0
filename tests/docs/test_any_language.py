"""The page of rules for Agents in any language says what the verifier does: each check with vectors that end there."""

import re

import pytest

from aop.contracts.credential import CONTEXT_HEADERS
from tests.agent.agents import REJECTIONS
from tests.docs.blocks import ROOT
from tests.support.vectors import cases

pytestmark = pytest.mark.second_ring

PAGE = (ROOT / "docs" / "guides" / "any-language.md").read_text("utf-8")
CHECKS = re.findall(r"^\| (\d+) \| .* \| (401|403) \| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_every_check_of_the_credential_is_on_the_page_with_its_status() -> None:
    ends = {(str(case["step"]), str(case["status"])) for case in cases("credential") if case["step"] is not None}
    assert sorted((step, status) for step, status, _ in CHECKS) == sorted(ends)
    assert [int(step) for step, _, _ in CHECKS] == list(range(1, 12))


@pytest.mark.parametrize(("step", "status", "names"), CHECKS, ids=[f"check {step}" for step, _, _ in CHECKS])
def test_the_vectors_named_beside_a_check_end_there(step: str, status: str, names: str) -> None:
    ends = {case["name"]: (case["step"], case["status"]) for case in cases("credential")}
    for name in names.split("; "):
        assert ends[name] == (int(step), int(status))


def test_the_page_has_the_number_of_vectors_the_context_headers_and_the_fixed_rejections() -> None:
    assert f"has {len(cases('credential'))} cases" in PAGE
    assert dict(re.findall(r"^\| `(x-platform-[a-z-]+)` \| `(\w+)`", PAGE, re.MULTILINE)) == CONTEXT_HEADERS
    assert {int(status): body.encode() for status, body in re.findall(r"^\| (\d+) \| `(\{.*\})` \|$", PAGE, re.M)} == (
        REJECTIONS
    )
