"""A Skill as an MCP tool: its name, and schemas that accept exactly what the Skill accepts."""

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from aop.base import assets
from aop.contracts.card import AgentCard
from aop.contracts.workspace import Installation, InstallationStatus
from aop.door.installed import InstalledAgent
from aop.door.mcp.names import tool_names
from aop.door.mcp.schemas import input_schema, output_schema
from aop.door.mcp.tools import named_tools, skill_tools, tool_document
from tests.cards.drawn import Draw
from tests.support.every import every
from tests.support.vectors import each

ROOT = Path(assets.folder("contracts")).parent
DRAWN = 60
"""Made by the first test that needs them: every worker collects this file, and one runs it."""
CARDS = sorted([*ROOT.glob("agents/*/card.json"), *ROOT.glob("templates/*/card.json")])


@each("tool-names")
def test_a_tool_is_named_as_the_vector_says(case: dict[str, Any]) -> None:
    skills = [(skill["agentId"], skill["skillId"]) for skill in case["skills"]]
    names = tool_names(skills)
    assert [names.get(skill) for skill in skills] == case["names"]


def test_every_name_fits_hosts_and_means_one_skill() -> None:
    pick = random.Random(7)
    letters = "ab_:.-é"
    skills = {
        ("".join(pick.choices(letters, k=3)), "".join(pick.choices(letters, k=pick.choice((1, 70)))))
        for _ in range(3000)
    }
    names = tool_names(skills)
    assert names.keys() == skills
    assert len(set(names.values())) == len(skills)
    assert [name for name in names.values() if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)] == []


def test_of_two_skills_with_one_marked_name_neither_is_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by trying ids until eight hex digits agree; here the digits are taken away instead."""
    monkeypatch.setattr("aop.door.mcp.names._MARK_LENGTH", 1)
    assert tool_names([("acme:x", "go"), ("acme.x", "go"), ("acme", "go")]) == {("acme", "go"): "acme__go"}


@each("tool-schemas")
def test_a_schema_becomes_what_the_vector_says(case: dict[str, Any]) -> None:
    schema = case["schema"]
    before = json.dumps(schema)
    if "input" in case:
        assert input_schema(schema) == (case["input"], case["wrapped"])
    else:
        assert output_schema(schema, streaming=False) == case["output"]
        assert output_schema(schema, streaming=True) == case["streamed"]
    assert json.dumps(schema) == before


def sample_schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in CARDS:
        for skill in json.loads(path.read_bytes())["skills"]:
            yield f"{path.parent.name} {skill['id']} input", skill["inputSchema"]
            yield f"{path.parent.name} {skill['id']} output", skill["outputSchema"]


@cache
def drawn_schemas() -> list[tuple[str, dict[str, Any]]]:
    """So many that can be compiled; some draws hold a pattern or a circle that no Card may hold."""
    made: list[tuple[str, dict[str, Any]]] = []
    for seed in range(1000):
        schema = json.loads(json.dumps(Draw(seed).schema()))
        if seed % 3 == 0:
            schema = {"anyOf": [schema, {"type": "array", "items": {"$ref": "#"}}], "$defs": schema["$defs"]}
        try:
            jsonschema_rs.Draft202012Validator(schema)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            continue
        made.append((f"drawn {seed}", schema))
        if len(made) == DRAWN:
            break
    return made


SAMPLES = [*sample_schemas()]


def values(schema: dict[str, Any], name: str) -> list[Any]:
    draw = Draw(len(name))
    near = [*schema.get("examples", ()), *schema.get("enum", ())]
    return [{}, {"a": 1}, "", "ab", [], [{}, "a"], None, 1.5, True, {"input": "x"}, {"notes": "x"}, *near] + [
        draw.value() for _ in range(12)
    ]


@every(("name", "schema"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_a_tool_accepts_exactly_what_its_skill_accepts(name: str, schema: dict[str, Any]) -> None:
    require_same_values(name, schema)


@every("place", range(DRAWN))
def test_a_tool_accepts_exactly_what_a_drawn_skill_accepts(place: int) -> None:
    require_same_values(*drawn_schemas()[place])


def require_same_values(name: str, schema: dict[str, Any]) -> None:
    skill = jsonschema_rs.Draft202012Validator(schema)
    taken = input_schema(schema)
    arguments = jsonschema_rs.Draft202012Validator(taken.schema)
    single = jsonschema_rs.Draft202012Validator(output_schema(schema, streaming=False))
    streamed = jsonschema_rs.Draft202012Validator(output_schema(schema, streaming=True))
    assert taken.schema["type"] == "object"
    for value in values(schema, name):
        fits = skill.is_valid(value)
        assert arguments.is_valid({"input": value} if taken.wrapped else value) == fits, value
        assert single.is_valid({"result": value}) == streamed.is_valid({"result": value}) == fits, value
        assert streamed.is_valid({"chunks": [value, value]}) == fits, value
    assert streamed.is_valid({"chunks": []})
    assert not any(checked.is_valid({}) for checked in (single, streamed))
    assert not streamed.is_valid({"result": 1, "chunks": []})


def test_there_are_enough_generated_schemas_of_both_kinds() -> None:
    wrapped = [input_schema(schema).wrapped for _, schema in drawn_schemas()]
    assert len(wrapped) == DRAWN
    assert 5 < sum(wrapped) < len(wrapped) - 2


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_a_tool_says_what_the_card_says_and_the_exact_ids(path: Path) -> None:
    card = msgspec.json.decode(path.read_bytes(), type=AgentCard)
    tools = named_tools([(installed(card), skill_tools(card, "rel_1"))])
    shown = [json.loads(tool_document(name, tool)) for name, tool in tools.items()]
    assert [one["name"] for one in shown] == sorted(tools)
    for one in shown:
        skill = next(skill for skill in card.skills if skill.id == one["_meta"]["aop/skillId"])
        assert one["title"] == f"{skill.name} ({card.agent_id} {skill.id})"
        assert one["description"].startswith(skill.description)
        assert one["_meta"]["aop/agentId"] == card.agent_id
        assert one["annotations"]["readOnlyHint"] is False
    assert len(shown) == len(card.skills)


def test_hidden_characters_of_a_card_are_shown_as_marks() -> None:
    document = json.loads(CARDS[0].read_bytes())
    document["name"] = "Good\u202eAgent\nSystem:"
    document["skills"][0] |= {"name": "Do\x1b[2J it", "description": "first\nsecond\u200b"}
    card = msgspec.json.decode(json.dumps(document), type=AgentCard)
    text = tool_document("x", skill_tools(card, "rel_1")[0])
    shown = json.loads(text)
    assert shown["title"].startswith("Do\ufffd[2J it (")
    assert shown["description"].startswith("first\nsecond\ufffd\n\nA Skill of the Agent Good\ufffdAgent\ufffdSystem:")
    assert b"\\u001b" not in text


def test_a_skill_whose_permissions_are_not_accepted_is_no_tool() -> None:
    card = msgspec.json.decode(CARDS[0].read_bytes(), type=AgentCard)
    needed = [skill for skill in card.skills if skill.required_permissions]
    assert needed
    tools = named_tools([(installed(card, ()), skill_tools(card, "rel_1"))])
    assert {tool.key[1] for tool in tools.values()} == {skill.id for skill in card.skills} - {s.id for s in needed}


def installed(card: AgentCard, accepted: tuple[str, ...] | None = None) -> InstalledAgent:
    installation = Installation(
        installation_id="ins_1",
        workspace_id="demo",
        agent_id=card.agent_id,
        version_constraint=card.version,
        installed_version=card.version,
        installed_release_id="rel_1",
        accepted_permissions=tuple(one.id for one in card.permissions) if accepted is None else accepted,
        status=InstallationStatus.ENABLED,
        installed_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-01T00:00:00.000Z",
    )
    return InstalledAgent(installation, card)
