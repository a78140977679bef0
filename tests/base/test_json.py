"""Strict JSON (contract 0.1): one verdict and one reading for every text."""

import json
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.base.json import AGENT_DEPTH, UNIT_DEPTH, JsonRefused, compact, parse, parse_slowly
from tests.base.json_corpus import CORPUS, Case, nested
from tests.base.json_standard import NotStrict, reading
from tests.support.effort import effort
from tests.support.every import every

LARGEST = sys.float_info.max


def broken_rule(body: bytes, max_depth: int = 64) -> str | None:
    try:
        parse(body, max_depth)
    except JsonRefused as refused:
        return refused.rule
    return None


def pointer(body: bytes) -> tuple[str | int, ...]:
    with pytest.raises(JsonRefused) as refused:
        parse(body)
    return refused.value.pointer


def test_the_corpus_is_as_large_as_promised_and_its_names_are_unique() -> None:
    assert len(CORPUS) >= 318
    assert len({case.name for case in CORPUS}) == len(CORPUS)


@pytest.mark.rows("CAT-10")
@every("case", CORPUS, ids=lambda case: case.name)
def test_every_text_of_the_corpus_gets_its_verdict(case: Case) -> None:
    assert broken_rule(case.body) == case.rule


@every("case", [case for case in CORPUS if case.rule is None], ids=lambda case: case.name)
def test_the_fast_and_the_slow_reading_give_one_value(case: Case) -> None:
    assert same(parse(case.body), parse_slowly(case.body))


def same(left: object, right: object) -> bool:
    return repr(left) == repr(right)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


@given(json_values, st.booleans(), st.sampled_from([None, 0, 3]))
def test_what_json_writes_is_read_back(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    try:
        body = text.encode()
    except UnicodeEncodeError:
        return
    if broken_rule(body) == "surrogate":
        return
    assert same(parse(body), value)


fragments = st.sampled_from(
    [
        b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"b":', b'"a":1', b"1", b"-0", b"1.5", b"1e400", b"9" * 310,
        b"true", b"null", b" ", b"\n", b"\\", b"\\u003a", b'"\\ud800"', b"\xc3\xa9", b"\xff", b'{"a":1,"a":2}', b"[]",
        b"NaN", b"\x00",
    ]
)  # fmt: skip


@settings(max_examples=600)
@given(st.lists(fragments, max_size=14).map(b"".join), st.sampled_from([1, 2, 3, 64]))
def test_fast_and_slow_reading_agree_on_any_text(body: bytes, max_depth: int) -> None:
    try:
        slow = repr(parse_slowly(body, max_depth))
    except JsonRefused as refused:
        slow = f"{refused.rule} {refused.pointer}"
    try:
        fast = repr(parse(body, max_depth))
    except JsonRefused as refused:
        fast = f"{refused.rule} {refused.pointer}"
    assert fast == slow
    assert is_strict(body, max_depth) == (broken_rule(body, max_depth) is None)


def is_strict(body: bytes, max_depth: int) -> bool:
    try:
        reading(body, max_depth)
    except NotStrict:
        return False
    return True


@settings(max_examples=300)
@given(json_values, st.data())
def test_a_text_cut_or_changed_anywhere_never_raises_anything_else(value: object, choice: st.DataObject) -> None:
    body = json.dumps(value).encode()
    at = choice.draw(st.integers(0, len(body)))
    changed = body[:at] + choice.draw(st.binary(max_size=2)) + body[choice.draw(st.integers(at, len(body))) :]
    broken_rule(changed)


@given(json_values, st.text(max_size=5), json_values)
def test_a_member_named_twice_is_refused_wherever_it_stands(first: object, name: str, second: object) -> None:
    quoted = json.dumps(name).encode()
    twice = (
        b"{" + quoted + b":" + json.dumps(first).encode() + b"," + quoted + b":" + json.dumps(second).encode() + b"}"
    )
    assert broken_rule(b'{"x":[0,' + twice + b"]}") == "duplicate_member"
    assert pointer(b'{"x":[0,' + twice + b"]}") == ("x", 1)


@pytest.mark.parametrize("limit", [1, 64, AGENT_DEPTH, UNIT_DEPTH])
def test_the_root_counts_as_level_one_and_one_level_more_is_refused(limit: int) -> None:
    assert broken_rule(nested(limit), limit) is None
    assert broken_rule(nested(limit + 1), limit) == "depth"
    assert broken_rule(b"[" + b"[]," * 300 + nested(limit) + b"]", limit) == "depth"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"a":1,"a":2}', ()),
        (b'{"o":{"a":1,"a":2}}', ("o",)),
        (b'{"l":[{},{"x":{"a":1,"a":2}}]}', ("l", 1, "x")),
        (b'{"a":{"b":1,"b":2},"a":0}', ()),
        (b'[{"x":1},{"a":0,"a":0},{"b":0,"b":0}]', (1,)),
        (b'{"a":["\\ud800"]}', ("a", 0)),
        (b'{"a":{"\\ud800":1}}', ("a",)),
        (b'"\\udc00"', ()),
        (b'{"a":', ()),
        (b"{} 1", ()),
        (nested(65), ()),
    ],
)
def test_a_refusal_points_at_the_object_or_text_concerned(body: bytes, expected: tuple[str | int, ...]) -> None:
    assert pointer(body) == expected


@every(
    ("literal", "value"),
    [
        ("7", 7), ("-0", 0), ("123456789012345678901234567890", 123456789012345678901234567890), ("1.0", 1.0),
        ("1e2", 100.0), ("9" * 308, int("9" * 308)), ("1" + "0" * 308, 10**308), ("2" + "0" * 308, LARGEST),
        ("-" + "9" * 309, -LARGEST), ("9" * 100_000, LARGEST), ("1e309", LARGEST), ("-1e309", -LARGEST),
        ("1" * 400 + ".5", LARGEST), ("1e-400", 0.0),
    ],
    ids=lambda value: str(value)[:20] if len(str(value)) < 300 else None,
)  # fmt: skip
def test_digits_alone_are_an_integer_and_what_overflows_is_the_largest_double(literal: str, value: float) -> None:
    read = parse(literal.encode())
    assert isinstance(read, int | float)
    assert read == value
    assert type(read) is type(value)
    assert math.isfinite(read)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (1 << 20),
        b'{"a":' * (1 << 18),
        b"[" * (1 << 19) + b"]" * (1 << 19),
        b"9" * (1 << 20),
        b"-0." + b"9" * (1 << 20),
        b'"' + b"\\" * ((1 << 20) - 1),
        b'"[' * (1 << 19),
        b"[" + b"{}," * 300_000 + b'{"a":1,"a":1}]',
    ],
    ids=["open", "open_objects", "closed", "digits", "fraction", "backslashes", "quotes", "late_duplicate"],
)
def test_a_hostile_megabyte_is_judged_in_bounded_time(body: bytes) -> None:
    with effort() as spent:
        broken_rule(body)
    assert spent.seconds < 3


def test_blanks_between_tokens_are_dropped_and_every_spelling_is_kept() -> None:
    raw = b' { "a b" : [ 1.00 , -0 , 1E+5, "x \\u0041 : , \\" y\\/" , { } , [ ] ,\r\n\ttrue ] } \n'
    assert compact(raw) == b'{"a b":[1.00,-0,1E+5,"x \\u0041 : , \\" y\\/",{},[],true]}'


@given(json_values, st.sampled_from([None, 1, 4]))
def test_a_compacted_text_has_one_line_and_the_same_value(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    compacted = compact(text.encode())
    assert compacted == json.dumps(value, separators=(",", ":")).encode()
    assert compact(compacted) == compacted
