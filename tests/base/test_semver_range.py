"""Version ranges (contract 4.4)."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop.base import assets
from aop.base.semver import Version
from aop.base.semver_range import Range, RangeSyntax
from tests.base.test_semver import compare, versions
from tests.support.effort import effort
from tests.support.every import every

# range; versions it permits; versions it does not
RANGES = [
    ("1.2.3", "1.2.3", "1.2.4 1.2.2 1.2.3-a 1.2.3+b"),
    ("=1.2.3", "1.2.3", "1.2.4 1.2.3-0 1.2.3+b"),
    ("1.2.3+b", "1.2.3+b", "1.2.3 1.2.3+c 1.2.3-a+b"),
    ("= 1.2.3+b", "1.2.3+b", "1.2.3 1.2.3+c"),
    ("1.2.3-rc.1", "1.2.3-rc.1", "1.2.3 1.2.3-rc.2 1.2.3-rc.1+b 1.2.3-rc.1.0"),
    ("!=1.2.3", "1.2.4 1.2.2 0.0.0", "1.2.3 1.2.3+b 1.2.4-a"),
    ("!=1.2.3+a", "1.2.4", "1.2.3 1.2.3+a 1.2.3+b"),
    ("!=1.2", "1.1.9 1.3.0 2.0.0", "1.2.0 1.2.9 1.2.3+b"),
    ("!=1.x", "0.9.0 2.0.0", "1.0.0 1.9.9"),
    ("!=*", "", "0.0.0 1.2.3 1.0.0-a"),
    ("^1.0.0 !=1.5.0", "1.0.0 1.4.9 1.5.1", "1.5.0 2.0.0"),
    (">1.2.3", "1.2.4 2.0.0", "1.2.3 1.2.3+b 1.2.2 1.2.4-a"),
    (">1.2.3+b", "1.2.4", "1.2.3 1.2.3+c"),
    (">=1.2.3", "1.2.3 1.2.3+b 9.0.0", "1.2.2 1.2.3-a"),
    ("<1.2.3", "1.2.2 0.0.0", "1.2.3 1.2.3+b 1.2.3-a"),
    ("<=1.2.3", "1.2.3 1.2.3+b 1.2.2", "1.2.4 1.2.4-0"),
    ("<=1.2.3+a", "1.2.3 1.2.3+b", "1.2.4"),
    (">1", "2.0.0 2.1.0", "1.0.0 1.9.9 2.0.0-a"),
    (">1.2", "1.3.0 2.0.0", "1.2.0 1.2.9"),
    (">=1", "1.0.0 2.0.0", "0.9.9 1.0.0-a"),
    (">=1.2", "1.2.0 1.3.0", "1.1.9"),
    ("<1", "0.9.9", "1.0.0"),
    ("<1.2", "1.1.9", "1.2.0"),
    ("<=1", "1.0.0 1.9.9", "2.0.0"),
    ("<=1.2", "1.2.9 1.0.0", "1.3.0"),
    ("*", "0.0.0 1.2.3 9.9.9+b", "1.0.0-a"),
    ("x", "1.2.3", "1.0.0-a"),
    ("X.x.*", "1.2.3", "1.0.0-a"),
    (">=*", "0.0.0 1.2.3", "1.0.0-a"),
    ("<=x", "1.2.3", ""),
    (">*", "", "0.0.0 1.2.3"),
    ("<*", "", "0.0.0 0.0.0-0"),
    ("~*", "1.2.3", ""),
    ("^x", "1.2.3", ""),
    ("1", "1.0.0 1.9.9", "0.9.9 2.0.0 1.0.0-a 2.0.0-a"),
    ("1.x", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("1.X.x", "1.0.0 1.9.9", "2.0.0"),
    ("1.*.3", "1.0.0 1.9.9", "2.0.0"),
    ("1.2", "1.2.0 1.2.9 1.2.0+b", "1.1.9 1.3.0 1.2.0-a"),
    ("=1.2.x", "1.2.0 1.2.9", "1.3.0"),
    ("0", "0.0.0 0.9.9", "1.0.0"),
    ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0 1.3.0-a"),
    ("~ 1.2.3", "1.2.9", "1.3.0"),
    ("~1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"),
    ("~1", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("~0.2.3", "0.2.3 0.2.9", "0.3.0"),
    ("~0.0.1", "0.0.1 0.0.9", "0.1.0"),
    ("~1.2.3-b.2", "1.2.3-b.2 1.2.3-b.4 1.2.3 1.2.9 1.2.4-a", "1.2.3-b.1 1.3.0-0 1.3.0"),
    ("^1.2.3", "1.2.3 1.9.9", "1.2.2 2.0.0 2.0.0-a"),
    ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0"),
    ("^0.0.3", "0.0.3 0.0.3+b", "0.0.2 0.0.4"),
    ("^0.0.0", "0.0.0", "0.0.1"),
    ("^1.2.x", "1.2.0 1.9.9", "1.1.9 2.0.0"),
    ("^0.0.x", "0.0.0 0.0.9", "0.1.0"),
    ("^0.0", "0.0.0 0.0.9", "0.1.0"),
    ("^0.2", "0.2.0 0.2.9", "0.3.0 0.1.0"),
    ("^1.x", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("^0.x", "0.0.0 0.9.9", "1.0.0"),
    ("^0", "0.0.0 0.9.9", "1.0.0"),
    ("^1", "1.0.0 1.9.9", "2.0.0"),
    ("^1.2.3-b.2", "1.2.3-b.2 1.2.3-b.10 1.2.3 1.9.9 1.5.0-a", "1.2.3-b.1 2.0.0-0 2.0.0-a 2.0.0"),
    ("^0.0.3-b", "0.0.3-b 0.0.3-c 0.0.3", "0.0.4-0 0.0.4 0.0.3-a"),
    ("1.2.3 - 2.3.4", "1.2.3 2.3.4 2.0.0 2.3.4+b", "1.2.2 2.3.5 2.0.0-a"),
    ("1.2 - 2.3.4", "1.2.0 2.3.4", "1.1.9 2.3.5"),
    ("1.2.3 - 2.3", "1.2.3 2.3.9", "2.4.0"),
    ("1.2.3 - 2", "2.9.9", "3.0.0"),
    ("1 - 2", "1.0.0 2.9.9", "0.9.9 3.0.0"),
    ("* - 2", "0.0.0 2.9.9", "3.0.0"),
    ("1 - *", "1.0.0 99.0.0", "0.9.9"),
    ("1.0.0-a - 2.0.0", "1.0.0-a 1.5.0-b 2.0.0-z 2.0.0", "1.0.0-0 2.0.1-a 2.0.1"),
    ("1.0.0 - 2.0.0-b", "1.0.0 2.0.0-a 2.0.0-b", "2.0.0-c 2.0.0 1.0.0-a"),
    ("1.0.0 - 2.0.0, !=1.5.0", "1.0.0 1.5.1 2.0.0", "1.5.0 2.0.1"),
    (">=1.2.0 <2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0"),
    (">=1.2.0,<2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0"),
    (" >= 1.2.0 , < 2.0.0 ", "1.2.0 1.9.9", "1.1.9 2.0.0"),
    (">=1.0.0-a <2.0.0", "1.0.0-a 1.5.0-x 2.0.0-b 1.9.9", "2.0.0 1.0.0-0"),
    (">=1.0.0-a <2", "1.0.0-a 1.5.0-x 1.9.9", "2.0.0-0 2.0.0-b 2.0.0"),
    (">=1.0.0-a *", "1.0.0-a 1.5.0-x 3.0.0-b", "0.9.0"),
    ("1.0.0 || 2.0.0", "1.0.0 2.0.0", "1.0.1 3.0.0"),
    ("1.x||>=3.0.0", "1.5.0 3.0.0", "2.0.0"),
    ("^1.0.0 || >=2.0.0-a <2.0.0-z", "1.0.0 2.0.0-b", "1.5.0-a 2.0.0-z 2.0.0"),
    (">=1.0.0-a || *", "1.0.0-b 3.0.0-x 0.1.0", "0.1.0-a"),
    ("<1.0.0-b", "1.0.0-a 0.9.0 0.9.0-x", "1.0.0-b 1.0.0"),
    (">1.0.0-b", "1.0.0-b.0 1.0.0-c 1.0.0", "1.0.0-b 1.0.0-b+x 1.0.0-a"),
    ("<=1.0.0-b", "1.0.0-b 1.0.0-b+x 1.0.0-a", "1.0.0-b.0 1.0.0"),
    ("!=1.0.0-b", "1.0.0-a 1.0.0 2.0.0-x", "1.0.0-b"),
    ("99999999999999999999999.x", "99999999999999999999999.1.0", "1.0.0"),
]
UNREADABLE = [
    "1.0.0 " * 50, "", " ", "   ", ",", "||", "1.0.0 ||", "|| 1.0.0", "1.0.0 || || 2.0.0", "1.0.0 | 2.0.0", "v1.0.0",
    ">=v1.0.0", "==1.0.0", "~>1.0.0", "=>1.0.0", ">>1.0.0", "<>1.0.0", "!1.0.0", "!= ", ">=", "^", "~", "-", " - ",
    "1.0.0 -", "- 1.0.0", "1.0.0 - - 2.0.0", "1.0.0 -2.0.0", ">=1.0.0 - 2.0.0", "1.0.0 - <2.0.0", "01.0.0", "1.00.0",
    "1.0.0-01", "1.0.0-", "1.0.0+", "1.0-a", "1-a", "1.x-a", "1.2.x-a", "1.0.0.0", "1.0.0a", "a.b.c", "latest",
    "1.0.0>2.0.0", ">=1.0.0<2.0.0", "^~1.0.0", "!=^1.0.0", "1..0", ".1", "1.", "xx", "1.xx", "**", "1.0.0\n",
    "1.0.0\t2.0.0", "\u00a01.0.0", "\u0661.0.0", "(1.0.0)", "1.0.0;2.0.0", ">= 1.0.0 <", "1.0.0 && 2.0.0",
    "1.0.0 or 2.0.0", ",1.0.0", "1.0.0,", "1.0.0,,2.0.0", ">=,1.0.0", "1.0.0 -, 2.0.0", "1.0.0, || 2.0.0",
]  # fmt: skip


@every(("text", "permitted", "refused"), RANGES, ids=[row[0] for row in RANGES])
@pytest.mark.rows("WS-08")
def test_a_range_permits_what_its_language_says(text: str, permitted: str, refused: str) -> None:
    parsed = Range.parse(text)
    assert [version for version in permitted.split() if not parsed.permits(Version.parse(version))] == []
    assert [version for version in refused.split() if parsed.permits(Version.parse(version))] == []


@every("text", UNREADABLE)
@pytest.mark.rows("WS-13")
def test_an_unreadable_or_blank_range_is_refused(text: str) -> None:
    with pytest.raises(RangeSyntax):
        Range.parse(text)


def test_a_range_has_at_most_256_characters() -> None:
    assert Range.parse("1.0.0" + " " * 251).permits(Version.parse("1.0.0"))
    with pytest.raises(RangeSyntax):
        Range.parse("1.0.0" + " " * 252)


@given(versions, versions)
def test_the_six_comparisons_agree_with_the_order(version: Version, operand: Version) -> None:
    order = compare(version, operand)
    takes_part = not version.is_prerelease or operand.is_prerelease
    expected = {">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0}
    expected |= {"=": version == operand, "": version == operand, "!=": order != 0}
    for operator, holds in expected.items():
        assert Range.parse(operator + operand.text).permits(version) is (holds and takes_part), operator


@given(versions, versions, versions)
def test_branches_are_alternatives_and_comparators_conditions(version: Version, low: Version, high: Version) -> None:
    first, second = f">={low.text}", f"<{high.text}"
    both = Range.parse(f"{first}, {second}")
    assert both == Range.parse(f"{first}, {second}")
    takes_part = not version.is_prerelease or low.is_prerelease or high.is_prerelease
    assert both.permits(version) is (compare(version, low) >= 0 and compare(version, high) < 0 and takes_part)
    either = Range.parse(f"{first} || {second}")
    assert either.permits(version) is (Range.parse(first).permits(version) or Range.parse(second).permits(version))


@given(versions)
def test_every_version_is_permitted_by_its_own_text_and_by_no_exclusion_of_it(version: Version) -> None:
    assert Range.parse(version.text).permits(version)
    assert not Range.parse(f"!={version.text}").permits(version)
    assert Range.parse(f"^{version.text}").permits(version)
    assert Range.parse(f"~{version.text}").permits(version)


@given(st.text("0123456789.xX*<>=!~^|-+, abv", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_range_or_is_refused(text: str) -> None:
    try:
        Range.parse(text).permits(Version.parse("1.2.3"))
    except RangeSyntax:
        return


@pytest.mark.parametrize(
    "text", ["1" * 256, "1.0.0-" + "a." * 125, "1 - " * 64, "x" * 256, "<" * 256, "1.0.0-" + "0" * 250, "1.1 " * 64]
)
def test_a_hostile_range_is_judged_in_bounded_time(text: str) -> None:
    with effort() as spent, contextlib.suppress(RangeSyntax):
        Range.parse(text).permits(Version.parse("1.0.0"))
    assert spent.seconds < 0.1


def test_the_range_vectors_of_the_contract_hold() -> None:
    cases = json.loads((assets.folder("contracts") / "vectors" / "semver-ranges.json").read_bytes())["cases"]
    assert len(cases) >= 60
    assert [case for case in cases if answer_to(case["range"], case["version"]) != case["verdict"]] == []


def answer_to(text: str, version: str) -> str:
    try:
        return "matches" if Range.parse(text).permits(Version.parse(version)) else "excluded"
    except RangeSyntax:
        return "constraint_syntax"
