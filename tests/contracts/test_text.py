"""Texts that others wrote: what is shown of them, what is safe as JSON, and what in a name misleads."""

import json
import unicodedata
from typing import Any

import pytest

from aop.contracts.text import MARK, SKELETON_LENGTH, cleaned, escaped, mixes_scripts, skeleton
from tests.support.effort import effort
from tests.support.vectors import each

pytestmark = pytest.mark.rows("SAFE-10")

# Format characters that draw something themselves: signs that stand over or under a number.
_DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


@each("text")
def test_a_text_is_shown_and_judged_as_the_vector_says(case: dict[str, Any]) -> None:
    text = case["text"]
    assert (cleaned(text), mixes_scripts(text), skeleton(text)) == (
        case["shown"],
        case["mixesScripts"],
        case["skeleton"],
    )


def test_every_control_and_format_character_is_hidden() -> None:
    wanted = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    shown = [code for code in range(0x110000) if unicodedata.category(chr(code)) in wanted and _is_shown(chr(code))]
    assert set(shown) == _DRAWN | {ord("\n"), ord("\t")}


def _is_shown(sign: str) -> bool:
    return cleaned(sign) == sign


def test_letters_digits_and_signs_stay_as_they_are() -> None:
    kept = {"Lu", "Ll", "Lt", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Sm", "Sc", "Sk", "Zs"}
    text = "".join(chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in kept)
    assert cleaned(text) == text


def test_a_name_makes_no_lines_of_its_own() -> None:
    assert cleaned("a\nb\tc") == "a\nb\tc"
    assert cleaned("a\nb\tc", lines=False) == f"a{MARK}b{MARK}c"


def test_json_keeps_its_value_and_holds_no_such_character() -> None:
    value = {"a\u202e": ["\x1b[8m\x7f\x9b\u2028\U000e0041\ud800", 1, None], "b": "ü\n"}
    text = "".join(["\r\n\x0b", json.dumps(value, ensure_ascii=False).replace("\ud800", "\\ud800")]).replace("\x0b", "")
    safe = escaped(text)
    assert json.loads(safe) == value
    assert cleaned(safe) == safe


def test_a_skeleton_is_short_and_cheap_whatever_the_name() -> None:
    with effort() as spent:
        for sign in ("\ufdfa", "\U0001d400", "\u0390", "r", "\u202e"):
            assert len(skeleton(sign * 120)) <= SKELETON_LENGTH
    assert spent.seconds < 0.5
