"""The input of an Invocation: JSON text from the command line, a file, stdin, or the example of the Card."""

import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aop.base import json as strict_json
from aop.cli.asking import standard_input
from aop.cli.installations import current_installation
from aop.cli.platform import InWorkspace
from aop.cli.problems import CommandProblem, UsageProblem
from aop.contracts.card import Skill

_INPUT_MARKS = ("{", "@")


@dataclass(frozen=True)
class Work:
    """The Skill and the input of an Invocation; the input keeps its bytes."""

    capability: str
    input: bytes


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[msgspec.Raw, ...] = ()


async def work_of(
    platform: InWorkspace, agent: str, capability: str | None, text: str | None, *, example: bool
) -> Work:
    """Where the Agent has one Skill only, its name may be left out."""
    if text is None and capability is not None and (capability == "-" or capability.startswith(_INPUT_MARKS)):
        capability, text = None, capability
    if example and text is not None:
        raise UsageProblem("give an input or --example, not both")
    skill: Skill | None = None
    if capability is None or example:
        skill = await _skill(platform, agent, capability)
        capability = skill.id
    return Work(capability, _example(skill) if example and skill is not None else _read(text))


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
        raise UsageProblem(said, f"{agent} offers {', '.join(skills)}")
    return found


def _example(skill: Skill) -> bytes:
    examples = msgspec.json.decode(skill.input_schema, type=_Examples).examples
    if not examples:
        raise CommandProblem(f"the inputSchema of {skill.id} has no examples", recovery="give an input")
    return bytes(examples[0])


def _read(text: str | None) -> bytes:
    raw = _raw(text)
    try:
        value = strict_json.parse(raw)
    except strict_json.JsonRefused as refused:
        raise UsageProblem(
            f"the input is not strict JSON ({refused.rule})", 'for example \'{"name": "Ada"}\''
        ) from None
    if not isinstance(value, dict):
        raise UsageProblem("the input must be a JSON object")
    return raw


def _raw(text: str | None) -> bytes:
    if text is None and sys.stdin.isatty():
        raise UsageProblem("an input is needed", "as JSON text, @FILE, - for stdin, or --example")
    if text is None or text == "-":
        return standard_input()
    if not text.startswith("@"):
        return text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as problem:
        raise CommandProblem(f"{text[1:]} cannot be read: {problem.strerror}") from None
