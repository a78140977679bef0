"""Says a JSON Schema in Markdown: one line for a value, a table for an object; references become links."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tools.contract_bundle import Json

DOCUMENTS = "documents.md"
_RULES = (
    ("const", "exactly"),
    ("enum", "one of"),
    ("format", "format"),
    ("pattern", "pattern"),
    ("minLength", "shortest"),
    ("maxLength", "longest"),
    ("minimum", "from"),
    ("maximum", "to"),
    ("minItems", "at least"),
    ("maxItems", "at most"),
    ("uniqueItems", "unique"),
    ("default", "default"),
)
Link = Callable[[str], str]
"""Turns a reference of a bundle, such as `#/components/schemas/agent-card.0.2/$defs/skill`, into a Markdown link."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lines of a Markdown table; nothing when there is no row."""
    lines = [_line(cells) for cells in rows]
    if lines:
        columns = list(head)
        yield from ("", _line(columns), _line("---" for _ in columns), *lines, "")


def members(schema: Json, link: Link) -> Iterator[str]:
    required = schema.get("required", [])
    rows = (
        (code(name), "yes" if name in required else "no", shape(rule, link), _meaning(rule))
        for name, rule in schema.get("properties", {}).items()
    )
    yield from table(("Member", "Required", "Form", "Meaning"), rows)


def shape(schema: Any, link: Link) -> str:
    if not isinstance(schema, dict):
        return "anything" if schema else "never"
    if "$ref" in schema:
        return link(schema["$ref"])
    kind = schema.get("type", "")
    said = [" or ".join(kind) if isinstance(kind, list) else kind]
    if "items" in schema:
        said[0] += f" of {shape(schema['items'], link)}"
    said += [_rule(word, schema[rule]) for rule, word in _RULES if rule in schema]
    return ", ".join(filter(None, said)) or "anything"


def document_link(reference: str, page: str = DOCUMENTS) -> str:
    name, *pointer = reference.removeprefix("#/components/schemas/").split("/")
    definition = pointer[1] if pointer[:1] == ["$defs"] else ""
    text = document_heading(name, pointer[-1] if pointer else "")
    return f"[{text}]({page}#{slug(document_heading(name, definition))})"


def document_heading(component: str, definition: str = "") -> str:
    """The same words in the page of documents and in links to it: `agent-card 0.2 skill`."""
    name, _, version = component.partition(".")
    return " ".join(filter(None, (name, version, definition)))


def slug(heading: str) -> str:
    """As the site and the common viewers of Markdown make an anchor of a heading."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def code(text: str) -> str:
    """A vertical bar would end the cell of a table, also inside backticks."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}".replace("|", "\\|")


def prose(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _rule(word: str, value: object) -> str:
    if value is True:
        return word
    shown = value if isinstance(value, list) else [value]
    return f"{word} {', '.join(code(json.dumps(item, ensure_ascii=False)) for item in shown)}"


def _meaning(rule: Any) -> str:
    return prose(rule.get("description", "")) if isinstance(rule, dict) else ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
