"""What a new version of an Agent means for callers and for readers of its outputs, in lines for people."""

from collections.abc import Iterable, Mapping

import msgspec

from aop.cli.shell.output import Line, json_text, styled
from aop.contracts.compatibility import Compatible, SchemaAnswer, SkillAnswers

_MAX_CHARACTERS = 200
_INPUTS: Mapping[Compatible, tuple[str, str]] = {
    Compatible.YES: ("old inputs stay valid", "green"),
    Compatible.NO: ("these inputs stop being valid: ", "yellow"),
    Compatible.NOT_DECIDED: ("old inputs: not decided", "dim"),
}
_OUTPUTS: Mapping[Compatible, tuple[str, str]] = {
    Compatible.YES: ("new outputs are valid for old readers", "green"),
    Compatible.NO: ("old readers refuse these outputs: ", "yellow"),
    Compatible.NOT_DECIDED: ("new outputs for old readers: not decided", "dim"),
}


def compatibility_lines(skills: Iterable[SkillAnswers]) -> list[Line]:
    """Nothing for no Skill."""
    lines: list[Line] = []
    for skill in skills:
        lines += [_line(skill.skill_id, skill.inputs, _INPUTS), _line(skill.skill_id, skill.outputs, _OUTPUTS)]
    return [styled(("COMPATIBILITY", "bold")), *lines] if lines else []


def _line(skill_id: str, answer: SchemaAnswer, texts: Mapping[Compatible, tuple[str, str]]) -> Line:
    example = "" if answer.example is msgspec.UNSET else _shortened(answer.example)
    return styled("  ", skill_id, "  ", texts[answer.compatible], example)


def _shortened(example: msgspec.Raw) -> str:
    text = json_text(example)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
