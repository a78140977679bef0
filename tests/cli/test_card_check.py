"""`aop card check` says what the Registry would say, with the line and how to fix it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Aop
from tests.support.cards import a_card

Json = dict[str, Any]


def written(tmp_path: Path, card: Json) -> str:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card, indent=2))
    return str(path)


def line_with(path: str, text: str) -> int:
    lines = Path(path).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_good_card_passes_with_its_digest(alone: Aop, tmp_path: Path) -> None:
    done = alone("card", "check", written(tmp_path, a_card()))
    assert (done.code, "valid" in done.out, "digest" in done.out) == (0, True, True)


def test_the_card_of_the_current_folder_is_the_default(alone: Aop, tmp_path: Path) -> None:
    written(tmp_path, a_card())
    assert alone("card", "check", "--json").json == {"file": "card.json", "valid": True, "findings": []}


def changed(**changes: Any) -> Json:
    return a_card() | changes


@pytest.mark.parametrize(
    ("card", "pointer", "rule", "text"),
    [
        (changed(version="1.0"), "/version", "pattern", '"version": "1.0"'),
        (changed(color="red"), "/color", "additional_member", '"color"'),
        (changed(limits=a_card()["limits"] | {"timeoutMs": 0}), "/limits/timeoutMs", "minimum", '"timeoutMs"'),
        (changed(owner={"id": "alice"}), "/owner/displayName", "required", '"owner"'),
        (changed(permissions=a_card()["permissions"] * 2), "/permissions/1/id", "CARD-2", None),
    ],
)
def test_a_broken_rule_is_told_with_its_line_and_a_hint(
    alone: Aop, tmp_path: Path, card: Json, pointer: str, rule: str, text: str | None
) -> None:
    path = written(tmp_path, card)
    done = alone("card", "check", path, "--json")
    assert done.code == 1
    (found,) = done.json["findings"]
    assert (found["kind"], found["pointer"], found["rule"]) == ("error", pointer, rule)
    assert found["hint"]
    if text is not None:
        assert found["line"] == line_with(path, text)
    shown = alone("card", "check", path)
    assert f"{path}:{found['line']}" in shown.out


def test_a_skill_schema_that_cannot_be_used_is_told_with_the_reason(alone: Aop, tmp_path: Path) -> None:
    card = a_card()
    card["skills"][0]["outputSchema"] = {"pattern": "(?=a)"}
    (found,) = alone("card", "check", written(tmp_path, card), "--json").json["findings"]
    assert (found["pointer"], found["rule"]) == ("/skills/0/outputSchema", "CARD-6")
    assert "linear time" in found["hint"]


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ('{\n "a": 1,\n "b": }', "json_syntax", 3),
        ('{\n "a": {"b": 1,\n "b": 2}}', "duplicate_member", 2),
        ("", "json_syntax", 1),
        ('{"a": 1} {}', "trailing_data", 1),
    ],
)
def test_text_that_is_not_strict_json_is_told_with_its_line(
    alone: Aop, tmp_path: Path, text: str, rule: str, line: int
) -> None:
    (tmp_path / "card.json").write_text(text)
    done = alone("card", "check", "--json")
    (found,) = done.json["findings"]
    assert (done.code, found["rule"], found["line"]) == (1, rule, line)


def test_bytes_that_are_not_utf_8_are_told(alone: Aop, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(b'{"a": "\xff"}')
    (found,) = alone("card", "check", "--json").json["findings"]
    assert "UTF-8" in found["hint"]


def test_what_will_not_work_later_is_advice_and_no_failure(alone: Aop, tmp_path: Path) -> None:
    card = a_card()
    card["authentication"] = {"type": "none"}
    card["protocol"]["endpoint"] += "?query"
    done = alone("card", "check", written(tmp_path, card), "--json")
    assert done.code == 0
    assert [found["kind"] for found in done.json["findings"]] == ["advice", "advice"]
    assert [found["rule"] for found in done.json["findings"]] == ["INVALID_ENDPOINT", "AGENT_AUTH_UNSUPPORTED"]


def test_a_file_that_is_not_there_is_named(alone: Aop) -> None:
    done = alone("card", "check", "nowhere.json")
    assert (done.code, "nowhere.json cannot be read" in done.err) == (1, True)
