"""A repeated event of a stream is written without being read, and means exactly what it would mean if it were."""

import json
from collections.abc import Iterable

import pytest

from aop.a2a.dialect import Dialect
from aop.a2a.v1_0 import ProtoDialect
from aop.front.artifacts import StreamedArtifacts
from tests.front import proto
from tests.support.streaming_agent import artifact

WORDS = [
    "one",
    "two",
    "",
    "a",
    'with "quotes"',
    "back\\slash",
    "line\nend",
    "é",
    "\u2028",
    "t-1",
    "c-1",
    "append",
    "last",
]
FORGED = ['x","text":"y', '"}]}', "\\", '"']


def new_events(words: Iterable[object]) -> list[bytes]:
    return [_response(proto.artifact({"text": word}, append=True)) for word in words]


def old_events(words: Iterable[object]) -> list[bytes]:
    named = [artifact(word, append=True) for word in words]
    return [_response(json.loads(json.dumps(one).replace('"data"', '"text"'))) for one in named]


def _response(result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("dialect", "events"),
    [(ProtoDialect(), new_events(WORDS * 2)), (Dialect(), old_events(WORDS * 2))],
    ids=["A2A 1.0", "A2A 0.3"],
)
def test_what_is_written_equals_what_is_read(dialect: Dialect, events: list[bytes]) -> None:
    repetition, repeated = StreamedArtifacts("1", lambda: None), 0
    for text in events:
        read, found = dialect.read(text, "1"), repetition.repeated(text)
        if found is None:
            repetition.passed_on(text, read)
        else:
            repeated += 1
            assert json.loads(found.text) == json.loads(read.text)
            assert (found.result is None, found.is_last) == (read.result is None, read.is_last)
    assert repeated >= 6


def test_a_part_that_is_no_object_is_passed_on_for_the_router_to_refuse() -> None:
    dialect, repetition = Dialect(), StreamedArtifacts("1", lambda: None)
    (event,) = old_events(["one"])
    repetition.passed_on(event, dialect.read(event, "1"))
    broken = _response(artifact("x", append=True) | {"artifact": {"artifactId": "a", "parts": [1]}})
    passed_on = repetition.passed_on(broken, dialect.read(broken, "1"))
    assert passed_on is not None
    assert passed_on.text == broken


@pytest.mark.parametrize("forged", FORGED)
def test_a_text_that_could_end_its_string_is_read(forged: str) -> None:
    dialect, repetition = ProtoDialect(), StreamedArtifacts("1", lambda: None)
    (first,) = new_events(["one"])
    repetition.passed_on(first, dialect.read(first, "1"))
    assert repetition.repeated(first.replace(b"one", forged.encode())) is None
    assert repetition.repeated(first.replace(b'"one"', b'"one"x')) is None
    assert repetition.repeated(first.replace(b'"one"', b"17")) is None
    assert repetition.repeated(first.replace(b'"one"', b'"o\x01e"')) is None
