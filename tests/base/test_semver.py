"""Versions (contract 1.3): strict reading, precedence, ties."""

import functools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop.base import assets
from aop.base.semver import Version, VersionSyntax
from aop.base.semver_range import Range
from tests.support.every import every
from tests.support.highest import highest

# The chain of SemVer 2.0.0 section 11 and some more, each lower than the next.
ASCENDING = (
    "0.0.0-0 0.0.0-0.0 0.0.0-1 0.0.0-9 0.0.0-10 0.0.0-- 0.0.0-0a 0.0.0-A 0.0.0-a 0.0.0 0.0.1 0.1.0 1.0.0-alpha "
    "1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.2.0 1.10.0 2.0.0-0 "
    "2.0.0 10.0.0 99999999999999999999999.0.0"
)
VALID = [
    *ASCENDING.split(),
    "1.0.0+b",
    "1.0.0-a+b.001",
    "1.0.0+001",
    "1.0.0+-",
    "1.0.0-0-0",
    "1.0.0-a.b-c.0",
    "1.0.0--1",
    "0.0.0-0A.0+0",
]
INVALID = [
    "", " ", "1", "1.0", "1.0.0.0", "v1.0.0", "V1.0.0", "=1.0.0", "01.0.0", "1.00.0", "1.0.01", "1.0-01", "1.0.0-",
    "1.0.0+", "1.0.0-a.", "1.0.0-.a", "1.0.0-01", "1.0.0-a.01", "1.0.0-a..b", "1.0.0+a..b", "1.0.0+a+b", "1.0.0-a_b",
    "1.0.0 ", " 1.0.0", "1.0.0\n", "-1.0.0", "1.0.0-é", "\u0661.0.0", "1.x.0", "*", "1.0.a", "1.0.0-a+", "a.b.c",
    "1,0,0", "1.0.0-a b", "1.0.0-" + "a" * 123, "1.0.0+" + "0" * 123,
]  # fmt: skip

versions = st.from_regex(
    re.compile(r"[0-3]\.[0-3]\.[0-3](-(a|b|0|1|10)(\.(0|1|b))?)?(\+[ab])?", re.ASCII), fullmatch=True
).map(Version.parse)


@every("text", VALID)
def test_a_version_by_the_letter_of_semver_is_read(text: str) -> None:
    assert Version.parse(text).text == text


@every("text", INVALID)
def test_anything_else_is_not_a_version(text: str) -> None:
    with pytest.raises(VersionSyntax):
        Version.parse(text)


def test_a_version_has_at_most_128_characters() -> None:
    assert Version.parse("1.0.0-" + "a" * 122).is_prerelease


def test_precedence_is_the_order_of_semver() -> None:
    parsed = [Version.parse(text) for text in ASCENDING.split()]
    assert sorted(parsed, key=lambda version: version.precedence) == parsed
    assert len({version.precedence for version in parsed}) == len(parsed)


def test_build_metadata_makes_another_version_of_the_same_precedence() -> None:
    plain, built = Version.parse("1.0.0"), Version.parse("1.0.0+b")
    assert plain != built
    assert plain.precedence == built.precedence
    assert plain.rank < built.rank


@pytest.mark.rows("WS-07")
def test_the_highest_permitted_version_wins_and_a_tie_goes_to_the_greater_bytes() -> None:
    candidates = [Version.parse(text) for text in ("1.0.0", "1.2.0+a", "1.2.0+b", "1.2.0", "1.10.0-rc", "2.0.0")]
    assert highest(candidates, Range.parse("^1.0.0")) == Version.parse("1.2.0+b")
    assert highest(candidates, Range.parse("1.2.0")) == Version.parse("1.2.0")
    assert highest(candidates, Range.parse(">=1.0.0-0 <2")) == Version.parse("1.10.0-rc")
    assert highest(candidates, Range.parse("3")) is None
    assert highest([], Range.parse("*")) is None


def compare(left: Version, right: Version) -> int:
    """SemVer section 11, clause by clause, as an independent reading."""
    (core, _, pre), (other_core, _, other_pre) = (v.text.partition("+")[0].partition("-") for v in (left, right))
    numbers, others = ([int(n) for n in text.split(".")] for text in (core, other_core))
    if numbers != others:
        return 1 if numbers > others else -1
    if not pre or not other_pre:
        return (not pre) - (not other_pre)
    for mine, theirs in zip(pre.split("."), other_pre.split("."), strict=False):
        if mine != theirs:
            if mine.isdigit() and theirs.isdigit():
                return 1 if int(mine) > int(theirs) else -1
            if mine.isdigit() != theirs.isdigit():
                return -1 if mine.isdigit() else 1
            return 1 if mine > theirs else -1
    return (pre.count(".") > other_pre.count(".")) - (pre.count(".") < other_pre.count("."))


@given(st.lists(versions, max_size=8))
def test_sorting_by_precedence_is_sorting_by_the_clauses_of_the_specification(found: list[Version]) -> None:
    by_clauses = sorted(found, key=functools.cmp_to_key(compare))
    assert [v.precedence for v in sorted(found, key=lambda v: v.precedence)] == [v.precedence for v in by_clauses]


def test_the_order_vectors_of_the_contract_hold() -> None:
    document = json.loads((assets.folder("contracts") / "vectors" / "semver-order.json").read_bytes())
    groups = [[Version.parse(text) for text in group] for group in document["ascending"]]
    assert [len({version.precedence for version in group}) for group in groups] == [1] * len(groups)
    flat = [version for group in groups for version in group]
    assert sorted(flat, key=lambda version: version.rank) == flat
    assert len({version.rank for version in flat}) == len(flat)
    for choice in document["choices"]:
        among = [Version.parse(text) for text in choice["among"]]
        assert highest(among, Range.parse(">=0.0.0-0")) == Version.parse(choice["chosen"])
