"""Strict JSON cases of our own making: (name, text, broken rule or None), for every entry point that reads JSON."""

from collections.abc import Iterator
from dataclasses import dataclass

SYNTAX = "json_syntax"
DUPLICATE = "duplicate_member"
TRAILING = "trailing_data"
SURROGATE = "surrogate"
DEPTH = "depth"


@dataclass(frozen=True)
class Case:
    name: str
    body: bytes
    rule: str | None


def nested(levels: int, opening: bytes = b"[", closing: bytes = b"]", core: bytes = b"") -> bytes:
    return opening * levels + core + closing * levels


_NUMBERS = (
    "0 -0 1 -1 10 1234567890 9007199254740991 9007199254740993 18446744073709551616 0.0 -0.0 0.5 -0.5 1.0 1.50 "
    "123.456 0e0 0E0 0e+0 1e1 1E1 1e+1 1e-1 1E+01 1e-007 1.5e3 -1.5E-3 1e308 1e309 -1e400 1e-400 "
    "2.2250738585072014e-308 4.9e-324 0.1e1 20e1 1.7976931348623157e308"
)
_BROKEN_NUMBERS = (
    "- + +1 -+1 --1 01 -01 00 0x1 0X1F 1_000 1. -1. .5 -.5 1.e1 .e1 1e 1E 1e+ 1e- 1ee1 1e1.5 1e1e1 0.1.2 1.2.3 1a "
    "-a 1+1 1-1 NaN -NaN nan Infinity -Infinity +Infinity inf 0b1 0o7 ½ ٣ e1 -Inf 1/2 1'000"
)
_BROKEN_LITERALS = "True TRUE tru truee fals False nul NULL None nulll undefined yes t f n true1 nullnull"
_ESCAPES = [r"\"", r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0000", r"\u0041", r"\uFFFF", r"\u00e9"]
_PAIRS = [r"\ud83d\ude00", r"\uD834\uDD1E", r"\uDBFF\uDFFF", r"\ud800\udc00"]
_BROKEN_ESCAPES = [
    r"\a",
    r"\v",
    r"\0",
    r"\x41",
    r"\'",
    r"\u",
    r"\u1",
    r"\u12",
    r"\u123",
    r"\u12G4",
    r"\U0041",
    r"\u 041",
]
_BROKEN_ESCAPES += [r"\u+041", r"\u-041", "\\\n", "\\é", r"\u{41}", r"\ud83d\u00"]
_HALVES = [r"\ud800", r"\uDBFF", r"\udc00", r"\uDFFF", r"\ud800\ud800", r"\udc00\ud800", r"\ud83dx", r"\ud83d\n"]
_HALVES += [r"\ud83d\u0041", r"\\\ud800", r"\ud83d\ude00\ud83d"]
_PLAIN_STRINGS = [
    "",
    " ",
    "a",
    "é",
    "€",
    "😀",
    "\u2028",
    "\u2029",
    "\x7f",
    "\ufeff",
    "\ufffe",
    "[{",
    "}]",
    ":",
    ",",
    "//",
]
_BAD_UTF8 = {
    "lone_continuation": b"\x80",
    "start_byte_only": b"\xc3",
    "overlong_slash": b"\xc0\xaf",
    "overlong_nul": b"\xc0\x80",
    "overlong_three": b"\xe0\x80\xaf",
    "surrogate_high": b"\xed\xa0\x80",
    "surrogate_low": b"\xed\xb0\x80",
    "surrogate_pair": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond_unicode": b"\xf4\x90\x80\x80",
    "five_bytes": b"\xf8\x88\x80\x80\x80",
    "ff": b"\xff",
    "fe": b"\xfe",
    "truncated_four": b"\xf0\x9f\x98",
    "latin1": "é".encode("latin-1"),
}
_BLANKS = {"space": b" ", "tab": b"\t", "newline": b"\n", "return": b"\r", "all": b" \r\n\t "}
_NO_BLANKS = {
    "form_feed": b"\x0c",
    "vertical_tab": b"\x0b",
    "no_break": b"\xc2\xa0",
    "nul": b"\x00",
    "bom": b"\xef\xbb\xbf",
}
_NO_BLANKS |= {"line_separator": "\u2028".encode(), "ideographic": "\u3000".encode(), "backspace": b"\x08"}
_TAILS = {
    "value": b" 1", "literal": b" true", "object": b"{}", "array": b" []", "string": b'"x"', "closing_brace": b"}",
    "closing_bracket": b"]", "comma": b",", "colon": b":", "comment": b" // x", "block_comment": b"/* */",
    "hash": b"#", "semicolon": b";", "letter": b" x", "nul": b"\x00", "second_line": b"\n{}", "quote": b'"',
    "bom": b"\xef\xbb\xbf",
}  # fmt: skip
_FIRST_VALUES = {"object": b"{}", "array": b"[1]", "string": b'"a"', "nested": b'{"a":[{}]}'}
_STRUCTURES = {
    "empty_object": b"{}", "empty_array": b"[]", "blank_object": b"{ }", "blank_array": b"[\n]", "true": b"true",
    "false": b"false", "null": b"null", "string": b'"text"', "mixed": b'[1,"a",true,null,{"b":[]},2.5]',
    "empty_name": b'{"":0}', "names_by_case": b'{"a":1,"A":2}', "names_by_form": '{"é":1,"e\u0301":2}'.encode(),
    "same_name_other_object": b'{"a":{"a":1},"b":{"a":2}}', "same_value": b'{"a":1,"b":1}',
    "colon_in_name": b'{"a:b":1}', "colons_in_value": b'{"a":":::"}', "escaped_colon": b'{"a":"\\u003a"}',
    "escaped_colon_name": b'{"\\u003A":1,"b":2}', "brackets_in_string": b'"' + b"[" * 200 + b'"',
    "braces_in_name": b'{"' + b"{" * 200 + b'":1}', "quotes_and_brackets": b'["\\"[[[","\\\\",["]"]]',
    "many_siblings": b"[" + b"[]," * 200 + b"{}]", "digits_in_string": b'"' + b"9" * 400 + b'"',
    "long_name": b'{"' + b"n" * 5000 + b'":1}', "del": b'"\x7f"',
}  # fmt: skip
_BROKEN_STRUCTURES = {
    "open_array": b"[", "open_object": b"{", "close_array": b"]", "close_object": b"}", "crossed": b"[}",
    "crossed_2": b"{]", "array_trailing_comma": b"[1,]", "array_leading_comma": b"[,1]",
    "array_double_comma": b"[1,,2]", "array_comma": b"[,]", "array_no_comma": b"[1 2]", "array_colon": b"[1:2]",
    "array_semicolon": b"[1;2]", "array_open_value": b"[1", "array_open_comma": b"[1,", "array_open_string": b'["a',
    "array_wrong_close": b'["a"}', "object_trailing_comma": b'{"a":1,}', "object_leading_comma": b'{,"a":1}',
    "object_double_comma": b'{"a":1,,"b":2}', "object_comma": b"{,}", "object_no_colon": b'{"a" 1}',
    "object_double_colon": b'{"a"::1}', "object_equals": b'{"a"=1}', "object_no_value": b'{"a":}',
    "object_name_only": b'{"a"}', "object_value_only": b"{1}", "object_number_name": b"{1:1}",
    "object_null_name": b"{null:1}", "object_bare_name": b"{a:1}", "object_single_quotes": b"{'a':1}",
    "object_array_name": b"{[]:1}", "object_open_name": b'{"a', "object_open_colon": b'{"a":',
    "object_open_value": b'{"a":1', "object_open_comma": b'{"a":1,', "object_no_comma": b'{"a":1 "b":2}',
    "object_wrong_close": b'{"a":1]', "open_string": b'"', "open_string_text": b'"abc', "open_escape": b'"\\',
    "open_escaped_quote": b'"\\"', "single_quotes": b"'a'", "backticks": b"`a`", "bare_word": b"abc", "comma": b",",
    "colon": b":", "backslash": b"\\", "slash": b"/", "comment": b"// x\n1", "block_comment": b"/* x */ 1",
    "inner_comment": b"[1/*x*/]", "hash": b"# x", "ellipsis": b"...", "minus": b"[-]", "less": b"<a>", "star": b"[*]",
    "ampersand": b"&", "escape_outside": b"\\u0031", "escaped_name": b'{\\"a":1}', "literal_in_array": b"[tru]",
    "nan_in_array": b"[NaN]", "infinity_in_object": b'{"a":Infinity}', "minus_infinity": b"[-Infinity]",
    "nul": b"\x00", "open_deep": nested(40, closing=b""), "utf16_le": "{}".encode("utf-16-le"),
    "utf16": "{}".encode("utf-16"), "utf32": "1".encode("utf-32"),
}  # fmt: skip
_DUPLICATES = {
    "flat": b'{"a":1,"a":2}', "same_value": b'{"a":1,"a":1}', "thrice": b'{"a":1,"a":2,"a":3}',
    "apart": b'{"a":1,"b":2,"a":3}', "empty_name": b'{"":1,"":2}', "escaped": b'{"a":1,"\\u0061":2}',
    "escaped_both": b'{"\\u0061":1,"\\u0061":2}', "escaped_colon": b'{"x":"\\u003a","a":1,"a":2}',
    "colon_name": b'{":":1,"\\u003a":2}', "escaped_slash": b'{"/":1,"\\/":2}', "in_array": b'[1,{"a":1,"a":2}]',
    "in_object": b'{"o":{"a":1,"a":2}}', "in_repeated": b'{"a":{"b":1,"b":2},"a":0}',
    "object_values": b'{"a":{},"a":{}}', "null_values": b'{"a":null,"a":null}',
    "non_ascii": '{"é":1,"\\u00e9":2}'.encode(), "astral": '{"😀":1,"\\ud83d\\ude00":2}'.encode(),
    "blanks": b'{ "a" : 1 , "a" : 2 }', "second_object": b'[{"a":1},{"b":1,"b":1}]',
    "with_colons_in_value": b'{"a":"::::","a":""}', "proto": b'{"__proto__":1,"__proto__":2}',
    "huge_number": b'{"a":1e999,"a":1}', "deep": b'{"a":' * 63 + b'{"b":1,"b":2}' + b"}" * 63,
    "and_surrogate": b'{"a":"\\ud800","a":1}',
}  # fmt: skip
_PRECEDENCE = {
    "depth_before_syntax": (nested(65, closing=b"") + b"x", DEPTH),
    "depth_before_trailing": (b"{}" + nested(65), DEPTH),
    "depth_before_duplicate": (b'{"a":1,"a":' + nested(64) + b"}", DEPTH),
    "utf8_before_depth": (nested(65) + b"\xff", SYNTAX),
    "syntax_before_duplicate": (b'{"a":1,"a":2', SYNTAX),
    "trailing_before_duplicate": (b'{"a":1,"a":2} 1', TRAILING),
    "trailing_before_surrogate": (b'"\\ud800" 1', TRAILING),
    "duplicate_before_surrogate": (b'{"s":"\\ud800","a":1,"a":2}', DUPLICATE),
    "syntax_before_surrogate": (b'["\\ud800",]', SYNTAX),
    "brackets_in_open_string": (b'"' + b"[" * 100, SYNTAX),
}


def _strings() -> Iterator[Case]:
    for number, text in enumerate([*_PLAIN_STRINGS, *_ESCAPES, *_PAIRS]):
        yield Case(f"y_string_{number}", f'"{text}"'.encode(), None)
        yield Case(f"y_name_{number}", f'{{"{text}":"x{text}"}}'.encode(), None)
    for number, text in enumerate(_BROKEN_ESCAPES):
        yield Case(f"n_escape_{number}", f'["{text}"]'.encode(), SYNTAX)
    for control in range(0x20):
        yield Case(f"n_control_{control:02x}", b'["a' + bytes([control]) + b'"]', SYNTAX)
    for number, half in enumerate(_HALVES):
        yield Case(f"n_surrogate_value_{number}", f'{{"a":["{half}"]}}'.encode(), SURROGATE)
        yield Case(f"n_surrogate_name_{number}", f'{{"b":{{"{half}":1}}}}'.encode(), SURROGATE)
    for name, raw in _BAD_UTF8.items():
        yield Case(f"n_utf8_{name}", b'{"a":"' + raw + b'"}', SYNTAX)


def _numbers() -> Iterator[Case]:
    for number in [*_NUMBERS.split(), "9" * 308, "-" + "9" * 309, "1" * 5000, "0." + "0" * 400 + "1", "1" * 400 + ".5"]:
        yield Case(f"y_number_{number[:24]}_{len(number)}", number.encode(), None)
        yield Case(f"y_number_in_array_{number[:24]}_{len(number)}", f"[{number}, {number}]".encode(), None)
    for number in _BROKEN_NUMBERS.split():
        yield Case(f"n_number_in_array_{number}", f"[{number}]".encode(), SYNTAX)


def _words() -> Iterator[Case]:
    for word in _BROKEN_LITERALS.split():
        yield Case(f"n_literal_{word}", word.encode(), SYNTAX)
        yield Case(f"n_literal_in_object_{word}", f'{{"a":{word}}}'.encode(), SYNTAX)


def _blanks_and_tails() -> Iterator[Case]:
    for name, blank in _BLANKS.items():
        spaced = blank.join([b"", b"{", b'"a"', b":", b"[", b"1", b",", b"2", b"]", b"}", b""])
        yield Case(f"y_blank_{name}", spaced, None)
        yield Case(f"n_only_{name}", blank, SYNTAX)
    for name, blank in _NO_BLANKS.items():
        yield Case(f"n_blank_{name}", blank + b"{}", SYNTAX)
        yield Case(f"n_inner_blank_{name}", b"[" + blank + b"1]", SYNTAX)
    for kind, first in _FIRST_VALUES.items():
        for name, tail in _TAILS.items():
            yield Case(f"n_tail_{kind}_{name}", first + tail, TRAILING)
    for number, text in enumerate([b"1 1", b"true false", b"0 }", b"null,", b"1\n2"]):
        yield Case(f"n_tail_scalar_{number}", text, TRAILING)
    for number, text in enumerate([b"01", b"1.", b"1e", b"0x0", b"1.5.5", b"-0-", b"true1"]):
        yield Case(f"n_broken_scalar_{number}", text, SYNTAX)


def _depths() -> Iterator[Case]:
    for levels in (1, 2, 63, 64):
        yield Case(f"y_depth_arrays_{levels}", nested(levels), None)
        yield Case(f"y_depth_objects_{levels}", nested(levels - 1, b'{"a":', b"}", b"{}"), None)
    for levels in (65, 66, 97, 129, 500, 1000, 5000, 100_000):
        yield Case(f"n_depth_arrays_{levels}", nested(levels), DEPTH)
        yield Case(f"n_depth_objects_{levels}", nested(levels - 1, b'{"a":', b"}", b"{}"), DEPTH)
        yield Case(f"n_depth_open_{levels}", nested(levels, closing=b""), DEPTH)
    yield Case("y_depth_scalar_inside", nested(64, core=b"1"), None)
    yield Case("n_depth_late", b"[" + b"[]," * 500 + nested(64) + b"]", DEPTH)
    yield Case("n_depth_mixed", nested(33, b'[{"a":', b"}]", b"0"), DEPTH)
    yield Case("y_depth_closed_in_string", b'["' + b"]" * 90 + b'",' + nested(63) + b"]", None)


def _tables() -> Iterator[Case]:
    yield Case("n_empty", b"", SYNTAX)
    yield Case("n_bom_only", b"\xef\xbb\xbf", SYNTAX)
    for prefix, table, rule in (
        ("y_structure", _STRUCTURES, None),
        ("n_structure", _BROKEN_STRUCTURES, SYNTAX),
        ("n_duplicate", _DUPLICATES, DUPLICATE),
    ):
        for name, body in table.items():
            yield Case(f"{prefix}_{name}", body, rule)
    for name, (body, first_rule) in _PRECEDENCE.items():
        yield Case(f"n_order_{name}", body, first_rule)


CORPUS: tuple[Case, ...] = (*_tables(), *_strings(), *_numbers(), *_words(), *_blanks_and_tails(), *_depths())
