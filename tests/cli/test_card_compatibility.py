"""What a new version means for callers and readers, in lines for people."""

from typing import Any

import msgspec

from aop.cards.compatibility.skills import skill_compatibilities
from aop.cli.shell.card_difference import CardDifference
from aop.contracts.compatibility import SkillAnswers
from tests.support.cards import a_card


def _lines(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    cards = []
    for version, schemas in (("1.0.0", old), ("1.1.0", new)):
        card = a_card(version=version)
        cards.append({**card, "skills": [{**card["skills"][0], "id": "s", **schemas}]})
    before, after = cards
    answers = msgspec.json.encode(skill_compatibilities(before, after))
    skills = msgspec.json.decode(answers, type=list[SkillAnswers])
    lines = [str(line) for line in CardDifference.between(before, after, skills).lines()]
    return lines[lines.index("COMPATIBILITY") + 1 :] if "COMPATIBILITY" in lines else lines


def test_each_answer_has_its_words_for_inputs_and_for_outputs() -> None:
    text, short, odd = {"type": "string"}, {"type": "string", "maxLength": 1}, {"type": "string", "pattern": "^a"}
    assert _lines({"inputSchema": short, "outputSchema": text}, {"inputSchema": text, "outputSchema": short}) == [
        "  s  old inputs stay valid",
        "  s  new outputs are valid for old readers",
    ]
    assert _lines({"inputSchema": text, "outputSchema": short}, {"inputSchema": short, "outputSchema": text}) == [
        '  s  these inputs stop being valid: "aa"',
        '  s  old readers refuse these outputs: "aa"',
    ]
    assert _lines({"inputSchema": text, "outputSchema": odd}, {"inputSchema": odd, "outputSchema": odd}) == [
        "  s  old inputs: not decided",
        "  s  new outputs are valid for old readers",
    ]


def test_equal_cards_have_no_difference_and_nothing_more_is_said() -> None:
    schemas: dict[str, Any] = {"inputSchema": {}, "outputSchema": {}}
    assert _lines(schemas, schemas) == ["no difference"]


def test_an_example_is_cut_and_has_no_character_that_a_terminal_obeys() -> None:
    evil, long = "\x1b[2J\u202e", "y" * 500
    old = {"inputSchema": {"enum": [evil]}, "outputSchema": {}}
    new = {"inputSchema": {"type": "object"}, "outputSchema": {"const": long}}
    first, _ = _lines(old, new)
    assert first == r'  s  these inputs stop being valid: "\u001b[2J\u202e"'
    first, _ = _lines({"inputSchema": {"const": long}, "outputSchema": {}}, new)
    assert (first.endswith("yy…"), len(first) < 300) == (True, True)
