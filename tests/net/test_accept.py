"""Accept negotiation (contract 7.2 with amendment 4a, choice 14)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop.base import assets
from aop.net.accept import allows_event_stream, allows_json
from tests.net.readings import reads_accept
from tests.support.effort import effort
from tests.support.every import every

UNREADABLE = [
    [b"application"], [b"application/"], [b"/json"], [b"/"], [b"*"], [b"application/json application/json"],
    [b"a/b c/d"], [b"application/json;q=2"], [b"application/json;q=1.001"], [b"application/json;q=0.1234"],
    [b"application/json;q=-1"], [b"application/json;q="], [b"application/json;q"], [b"application/json;q=a"],
    [b'application/json;q="1"'], [b"application/json;q=0.5;q=0.6"], [b"application/json;charset"],
    [b"application/json;=x"], [b"application /json"], [b"application/json;a = b"], [b'application/json;a="b'],
    [b"application/json, text/"], [b"application/json\x00"], [b"application/json", b"???"], [b"{}"],
    [b"application/json;q=.5"], [b"text/event-stream, ("], [b"text/event-stream;q=1e0"], [b"\xff"],
    [b"application/json;q=0.5 x"], [b"application//json"], [b"application/json/x"], [b"text/event-stream;q=1,0/"],
]  # fmt: skip


@pytest.mark.rows("INV-03")
@every(
    "values",
    [
        [], [b""], [b" "], [b","], [b"", b""], [b" , ,"], [b"*/*"], [b"application/*"], [b"application/json"],
        [b"text/html, application/json;q=0.1"], [b"text/html, Application/JSON;q=0.1"],
        [b"application/json; charset=utf-8"], [b"application/json;charset=UTF-8"],
        [b'application/json;charset="utf-8"'], [b'application/json;charset="utf\\-8"'],
        [b"text/html", b"application/json"], [b"text/event-stream, */*;q=0.001"], [b"application/json, */*;q=0"],
        [b"application/json, application/*;q=0"], [b",application/json,"], [b"application/json;Q=0.5"],
        [b"application/json ; q=1.000"], [b"application/json;q=1."], [b"application/json;"],
        [b"application/json;;q=1;"], [b"application/json;v=1;q=0, */*"],
        [b"application/json;q=0, application/json;q=1"], [b"\tapplication/json\t,\ta/b"],
        [b'text/html;a="x,application/json;q=0", application/*'], [b"application/json;q=0.001"],
        [b"*/*;charset=utf-8"],
    ],
)  # fmt: skip
def test_a_json_answer_is_acceptable(values: list[bytes]) -> None:
    assert allows_json(values)


@pytest.mark.rows("INV-04")
@every(
    "values",
    [
        [b"text/event-stream"], [b"application/json;q=0"], [b"application/json;q=0, */*"],
        [b"application/json;q=0.000, */*"], [b"application/*;q=0, */*"], [b"text/html"], [b"text/*"],
        [b"application/json;version=1"], [b"*/*;q=0"], [b"application/json;charset=latin-1"],
        [b"application/json;charset=utf-8;version=1"], [b"*/json"], [b"application/jso*"], [b"*/*;level=1"],
        [b"application/problem+json"], [b"application/json;q=0", b"*/*"], [b'text/html;a="application/json"'],
        *UNREADABLE,
    ],
)  # fmt: skip
def test_a_json_answer_is_not_acceptable(values: list[bytes]) -> None:
    assert not allows_json(values)


@pytest.mark.rows("INV-05", "DOOR-08")
@every(
    "values",
    [
        [], [b""], [b" , ,"], [b"*/*"], [b"text/*"], [b"TEXT/*;q=0.001"], [b"application/json, */*;q=0.1"],
        [b"text/event-stream"], [b"text/event-stream;q=0.5, application/json"],
        [b"TEXT/Event-Stream;q=0.5, application/json"], [b"application/json", b"text/event-stream"],
        [b"text/event-stream;charset=utf-8"], [b"*/*;q=0, text/event-stream;q=0.001"], [b",text/event-stream"],
        [b"text/*;q=0, text/event-stream"], [b"*/*;q=0, text/*"], [b"text/event-stream;v=1;q=0, */*"],
        [b"application/json, text/plain, */*"], [b"text/html", b"*/*"],
    ],
)  # fmt: skip
def test_a_stream_is_acceptable(values: list[bytes]) -> None:
    assert allows_event_stream(values)


@pytest.mark.rows("INV-05", "DOOR-08")
@every(
    "values",
    [
        [b"application/json"], [b"application/*"], [b"text/html"], [b"text/event-stream;q=0"], [b"*/*;q=0"],
        [b"text/event-stream;q=0.0, */*"], [b"text/event-stream;q=0, text/*"], [b"text/*;q=0, */*"],
        [b"text/event-stream;v=1"], [b"text/*;v=1"], [b"text/event-stream;charset=latin-1"], [b"*/event-stream"],
        [b"application/event-stream"], [b"text/event-stream2"], *UNREADABLE,
    ],
)  # fmt: skip
def test_a_stream_is_not_acceptable(values: list[bytes]) -> None:
    assert not allows_event_stream(values)


def test_the_vectors_of_the_contract_get_their_verdicts() -> None:
    cases = json.loads((assets.folder("contracts") / "vectors" / "accept.json").read_bytes())["cases"]
    assert cases
    for case in cases:
        allows = allows_event_stream if case["stream"] else allows_json
        verdict = allows([value.encode("latin-1") for value in case["accept"]])
        assert verdict is (case["verdict"] == "acceptable"), case["name"]


@given(st.lists(st.binary(max_size=20) | st.text('aA*/;,q=01. \t"\\', max_size=20).map(str.encode), max_size=3))
def test_any_header_gets_the_verdict_of_the_rfc(values: list[bytes]) -> None:
    assert reads_accept(values) in {True, False}


@pytest.mark.parametrize(
    "value",
    [
        b"a/b;" * 8000,
        b"," * 32000,
        b'a/b;c="' + b"\\" * 32000,
        b"a" * 32000,
        b"a/b;c=d" + b" " * 32000,
        b"a/b;c=d;" * 4000 + b"(",
    ],
    ids=["parameters", "commas", "quoted", "token", "blanks", "late"],
)
def test_a_hostile_header_is_judged_in_bounded_time(value: bytes) -> None:
    with effort() as spent:
        allows_json([value])
        allows_event_stream([value])
    assert spent.seconds < 0.5
