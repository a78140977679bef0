"""The input of an Invocation, a JSON object or a text: from the command line, a file, stdin, or the Card's example."""

import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aop.base import json as strict_json
from aop.base.ids import is_safe_identifier
from aop.cli.shell.asking import standard_input
from aop.cli.shell.installed import current_installation
from aop.cli.shell.json_lines import syntax_problem
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem, UsageProblem, file_problems
from aop.cli.shell.similar import similar
from aop.contracts.card import Skill
from aop.contracts.errors import Violation
from aop.contracts.expected import expected

_OBJECT, _FILE, _STDIN = "{", "@", "-"
_BLANKS = b" \t\r\n"


@dataclass(frozen=True)
class Work:
    """The Skill and the input of an Invocation; the input keeps its bytes."""

    capability: str
    input: bytes


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[msgspec.Raw, ...] = ()


async def work_of(
    platform: InWorkspace, agent: str, capability: str | None, text: str | None, *, example: bool, as_text: bool
) -> Work:
    """Where the Agent has one Skill only, its name may be left out."""
    if text is None and capability is not None and (as_text or not is_safe_identifier(capability)):
        capability, text = None, capability
    if example and text is not None:
        raise UsageProblem("give an input or --example, not both")
    skill: Skill | None = None
    if capability is None or example:
        skill = await _skill(platform, agent, capability)
        capability = skill.id
    return Work(capability, _example(skill) if example and skill is not None else _read(text, as_text))


async def _skill(platform: InWorkspace, agent: str, capability: str | None) -> Skill:
    """Of the version that is installed."""
    current = await current_installation(platform, agent)
    exact = await platform.client.read_agent_card(current.agent_id, current.installed_version)
    skills = {skill.id: skill for skill in exact.card.skills}
    if capability is None and len(skills) == 1:
        return next(iter(skills.values()))
    found = skills.get(capability or "")
    if found is None:
        said = "name the Skill" if capability is None else f"there is no Skill {capability}"
        meant = similar(capability or "", skills)
        asked = f"did you mean {meant}? " if meant else ""
        raise UsageProblem(said, f"{asked}{agent} offers {', '.join(skills)}")
    return found


def first_example(skill: Skill) -> bytes | None:
    examples = msgspec.json.decode(skill.input_schema, type=_Examples).examples
    return bytes(examples[0]) if examples else None


def _example(skill: Skill) -> bytes:
    found = first_example(skill)
    if found is None:
        raise CommandProblem(f"the inputSchema of {skill.id} has no examples", recovery="give an input")
    return found


def _read(text: str | None, as_text: bool) -> bytes:
    """What begins with a brace is a JSON object, anything else is a text. A text may begin with one only by option."""
    raw = _raw(text)
    if as_text or not raw.lstrip(_BLANKS).startswith(_OBJECT.encode()):
        return _json_string(raw)
    try:
        strict_json.parse(raw)
    except strict_json.JsonRefused as refused:
        raise UsageProblem(
            f"the input begins with {{ and is not strict JSON ({refused.rule}): {_where(raw, refused)}",
            'correct it, for example \'{"name": "Ada"}\', or send it as a text with --text',
        ) from None
    return raw


def _where(raw: bytes, refused: strict_json.JsonRefused) -> str:
    """The line and column of what is wrong, where there is one, and else what the rule wants."""
    pointer = "".join(f"/{token}" for token in refused.pointer)
    words = str(expected(Violation(pointer, refused.rule)))
    try:
        found = syntax_problem(raw.decode())
    except UnicodeDecodeError:
        return f"{words} in UTF-8"
    if found is not None:
        line, column, text = found
        return f"line {line}, column {column}: {text}"
    return words if not pointer else f"at {pointer}: {words}"


def _json_string(raw: bytes) -> bytes:
    try:
        return msgspec.json.encode(raw.decode())
    except UnicodeDecodeError:
        raise UsageProblem("the input is not a text in UTF-8") from None


def _raw(text: str | None) -> bytes:
    if text is None or text == _STDIN:
        if text is None and sys.stdin.isatty():
            raise _missing()
        raw = standard_input()
        if text is None and not raw:  # nobody wrote anything, as in a job without stdin
            raise _missing()
        return raw
    if not text.startswith(_FILE):
        return text.encode(errors="surrogateescape")
    with file_problems(text[1:], "read"):
        return Path(text[1:]).read_bytes()


def _missing() -> UsageProblem:
    return UsageProblem("an input is needed", "a text, a JSON object, @FILE, - for stdin, or --example")
