"""What is wrong with an Agent Card file, by the Registry's own rules: each with its line and how to fix it."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from aop.agent.check.a2a_card import is_agent_card
from aop.agent.check.card_draft import UNKNOWN
from aop.base import json as strict_json
from aop.cards.rules import card_violations
from aop.cards.vetting import SchemaVetting, SkillSchemaRefused
from aop.cli.shell.json_lines import Tokens, line_numbers, line_of
from aop.cli.shell.problems import CommandProblem, file_problems
from aop.contracts.card import AgentCard, AuthenticationType
from aop.contracts.documents import document
from aop.contracts.errors import Violation
from aop.contracts.expected import expected
from aop.net.origin import Endpoint, InvalidEndpoint

MAX_BYTES = 1_048_576


@dataclass(frozen=True)
class CardFinding:
    """One thing that is wrong, or, as `advice`, one that will be refused later or does not work."""

    line: int | None
    pointer: str
    rule: str
    hint: str


@dataclass(frozen=True)
class CardFile:
    """A Card file that has been read; `card` is None unless it follows every rule."""

    path: Path
    raw: bytes
    card: AgentCard | None
    problems: Sequence[CardFinding]
    advice: Sequence[CardFinding]


def read_card_file(path: Path) -> CardFile:
    with file_problems(path, "read"):
        raw = path.read_bytes()
    if len(raw) > MAX_BYTES:
        raise CommandProblem(f"{path} is larger than 1 MiB, which the Gateway refuses")
    try:
        value = strict_json.parse(raw)
    except strict_json.JsonRefused as refused:
        return CardFile(path, raw, None, [_unreadable(raw, refused)], [])
    if is_agent_card(value):
        return CardFile(path, raw, None, [_foreign(path)], [])
    lines = line_numbers(raw.decode())
    violations = document("agent-card/0.2").violations(value)
    broken = violations or tuple(card_violations(raw, cast("dict[str, Any]", value)))
    problems = sorted(
        (found for violation in broken for found in _found(violation, value, lines)), key=lambda one: one.line or 0
    )
    if problems:
        return CardFile(path, raw, None, problems, [])
    card = msgspec.json.decode(raw, type=AgentCard)
    return CardFile(path, raw, card, [], list(_advice(card, lines)))


def _foreign(path: Path) -> CardFinding:
    """One finding: the rules that an agent card breaks here would say nothing to its author."""
    hint = (
        f"this is an A2A agent card, not a Card of this platform: aop card from-a2a {shlex.quote(str(path))} --out FILE"
    )
    return CardFinding(None, "", "a2a_agent_card", hint)


def _unreadable(raw: bytes, refused: strict_json.JsonRefused) -> CardFinding:
    pointer, line = "".join(f"/{token}" for token in refused.pointer), None
    hint = str(expected(Violation(pointer, refused.rule)))
    try:
        text = raw.decode()
        json.loads(text)
        line = line_of(line_numbers(text), pointer)
    except json.JSONDecodeError as problem:
        line, hint = problem.lineno, f"{hint}: {problem.msg} at column {problem.colno}"
    except (ValueError, RecursionError):
        hint = f"{hint} in UTF-8" if refused.rule is strict_json.JsonRule.JSON_SYNTAX else hint
    return CardFinding(line, pointer, refused.rule, hint)


def _found(violation: Violation, value: object, lines: dict[Tokens, int]) -> Iterator[CardFinding]:
    """An unknown member is named here, where the file belongs to its reader; the Gateway names its parent only."""
    hint = expected(violation) or "see the Card's schema"
    if violation.rule == "additional_member":
        parent = _tokens(violation.pointer, value)
        for name in _undeclared(parent, value):
            yield CardFinding(lines.get((*parent, name)), f"{violation.pointer}/{name}", violation.rule, hint)
        return
    if violation.rule == "CARD-6":
        hint = f"{hint}: {_why(violation.pointer, value)}"
    yield CardFinding(line_of(lines, violation.pointer), violation.pointer, violation.rule, hint)


def _undeclared(parent: Tokens, value: object) -> Iterator[str]:
    known = document("agent-card/0.2")
    here = known.declared_pointer(parent)
    members = _at(parent, value)
    for name in members if isinstance(members, dict) else ():
        if known.declared_pointer((*parent, name)) == here:
            yield name


def _why(pointer: str, value: object) -> str:
    try:
        SchemaVetting().require_usable(cast("dict[str, object]", _at(_tokens(pointer, value), value)))
    except SkillSchemaRefused as refused:
        return str(refused)
    return "together the schemas cost too much to check"


def _tokens(pointer: str, value: object) -> Tokens:
    tokens: list[str | int] = []
    for name in pointer.split("/")[1:]:
        token: str | int = int(name) if isinstance(value, list) else name.replace("~1", "/").replace("~0", "~")
        tokens.append(token)
        value = cast("dict[str | int, object]", value)[token] if isinstance(value, dict | list) else None
    return tuple(tokens)


def _at(tokens: Tokens, value: object) -> object:
    for token in tokens:
        value = cast("dict[str | int, object]", value)[token]
    return value


def _advice(card: AgentCard, lines: dict[Tokens, int]) -> Iterator[CardFinding]:
    for pointer, text in (("/agentId", card.agent_id), ("/owner/id", card.owner.id)):
        if UNKNOWN in text:
            yield CardFinding(line_of(lines, pointer), pointer, "draft", f"write what {UNKNOWN} stands for")
    try:
        Endpoint.parse(card.protocol.endpoint)
    except InvalidEndpoint as problem:
        pointer = "/protocol/endpoint"
        yield CardFinding(line_of(lines, pointer), pointer, "INVALID_ENDPOINT", f"it cannot be bound: {problem}")
    if card.authentication.type is not AuthenticationType.HTTP_BEARER:
        pointer = "/authentication/type"
        hint = "only http_bearer can be invoked; every Invocation will end AGENT_AUTH_UNSUPPORTED"
        yield CardFinding(line_of(lines, pointer), pointer, "AGENT_AUTH_UNSUPPORTED", hint)
