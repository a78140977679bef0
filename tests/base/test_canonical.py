"""RFC 8785 canonical bytes: one form per value, equal to an independent implementation's."""

import json
import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from aop.base.canonical import LARGEST_SAFE_INTEGER, NotCanonical, canonical, digest, number_text
from aop.base.json import parse
from tests.support.every import every

# Bit pattern and ECMAScript text, as listed in RFC 8785 appendix B.
ECMASCRIPT_NUMBERS = [
    ("0000000000000000", "0"), ("8000000000000000", "0"), ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"), ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"), ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"), ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"), ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"), ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"), ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"), ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"), ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"), ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"), ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]  # fmt: skip

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_SAFE_INTEGER, LARGEST_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=6)
    ),
    max_leaves=30,
)


@every(("bits", "text"), ECMASCRIPT_NUMBERS)
def test_numbers_are_written_as_ecmascript_writes_them(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert number_text(number) == text


@every(
    ("literal", "text"),
    [
        ("1E2", "100"), ("100", "100"), ("1e2", "100"), ("1.0", "1"), ("-0.0", "0"), ("-0", "0"), ("0.1", "0.1"),
        ("1e21", "1e+21"), ("1e20", "100000000000000000000"), ("1e-6", "0.000001"), ("1e-7", "1e-7"),
        ("123e-20", "1.23e-18"), ("4.50", "4.5"), ("2e-3", "0.002"), ("9007199254740991", "9007199254740991"),
        ("333333333.33333329", "333333333.3333333"), ("1e30", "1e+30"), ("0.000000000000000000000000001", "1e-27"),
        ("12345.678e5", "1234567800"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_number_has_one_form(literal: str, text: str) -> None:
    assert canonical(parse(literal.encode())) == text.encode()


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_back_as_itself_and_as_the_other_implementation_writes_it(number: float) -> None:
    assert float(number_text(number)) == number
    assert number_text(number).encode() == rfc8785.dumps(number)


@settings(max_examples=300)
@given(json_values)
def test_any_value_has_the_bytes_of_the_other_implementation(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@settings(max_examples=200)
@given(json_values)
def test_the_canonical_form_is_strict_json_of_the_same_value_and_its_own_canonical_form(value: object) -> None:
    written = canonical(value)
    assert json.loads(written, parse_int=float) == value
    try:
        again = canonical(parse(written))
    except NotCanonical:  # a double of 17 or more digits without exponent reads back as a large integer
        return
    assert again == written


def test_names_are_sorted_by_utf_16_code_units() -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert list(json.loads(canonical(value))) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_strings_are_escaped_only_where_they_must_be() -> None:
    text = "".join(map(chr, range(0x21))) + '"\\/\x7f\u2028é😀'
    controls = "".join(rf"\u{n:04x}" for n in range(0x20))
    for code, short in {"0008": "b", "0009": "t", "000a": "n", "000c": "f", "000d": "r"}.items():
        controls = controls.replace(rf"\u{code}", rf"\{short}")
    assert canonical(text) == f'"{controls} \\"\\\\/\x7f\u2028é😀"'.encode()


def test_reordered_members_other_escapes_and_other_number_spellings_have_one_digest() -> None:
    spellings = [
        b'{"b": 1E2, "a": "\\u00e9", "c": {"y": [1.0, 2], "x": null}}',
        '{"a":"é","b":100,"c":{"x":null,"y":[1,2.0]}}'.encode(),
        b'\n{ "c":{"y":[1,2],"x":null},\t"b":1.00e+2,"\\u0061":"\\u00E9" }',
    ]
    digests = {digest(canonical(parse(text))) for text in spellings}
    assert len(digests) == 1
    assert all(len(text) == 64 and text == text.lower() for text in digests)


@every(
    "value",
    [
        math.nan, math.inf, -math.inf, [math.nan], 2**53, -(2**53), {"a": 10**400}, "\ud800", "a\udc00", {"\ud83d": 1},
        {"é\udfff": [1]}, {1: 2}, {None: 1}, b"bytes", object, {"a": {1, 2}}, 1j,
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_i_json_value_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]"), ({}, "{}"), ([[]], "[[]]"), ({"": {}}, '{"":{}}'), (True, "true"), (False, "false"), (None, "null"),
        (0, "0"), ((1, "a"), '[1,"a"]'),
    ],
)  # fmt: skip
def test_empty_and_literal_values(value: object, text: str) -> None:
    assert canonical(value) == text.encode()


def test_the_digest_is_lowercase_sha_256() -> None:
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
