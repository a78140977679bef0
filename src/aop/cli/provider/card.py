"""`aop card check`: checks an Agent Card with the rules of the Registry, without the platform."""

from pathlib import Path

from click.exceptions import Exit

from aop.base.canonical import canonical, digest
from aop.base.json import parse
from aop.cli.shell import options
from aop.cli.shell.card_findings import CardFile, CardFinding, read_card_file
from aop.cli.shell.output import Line, Output, styled
from aop.cli.shell.problems import EXIT_REFUSED


@options.card_file
def check(out: Output, file: Path) -> None:
    """Nothing is sent to the platform. Exit code 1 when a rule is broken; advice does not change the exit code.

    Example: aop card check my-agent/card.json
    """
    read = read_card_file(file)
    found = [_document(one, "error") for one in read.problems] + [_document(one, "advice") for one in read.advice]
    out.tell({"file": str(file), "valid": read.card is not None, "findings": found}, *lines_of(read))
    if read.card is None:
        raise Exit(EXIT_REFUSED)


def lines_of(read: CardFile) -> list[Line]:
    if [one.rule for one in read.problems] == ["a2a_agent_card"]:
        return [styled(f"{read.path}: ", (read.problems[0].hint, "red"))]
    lines: list[Line] = []
    for style, findings in (("red", read.problems), ("yellow", read.advice)):
        for one in findings:
            place = str(read.path) if one.line is None else f"{read.path}:{one.line}"
            lines.append(styled((place, "bold"), f"  {one.pointer or '(whole file)'}  ", (one.rule, style)))
            lines.append(f"    {one.hint}")
    if read.card is None:
        return [*lines, f"{read.path}: {_count(len(read.problems))}"]
    card = read.card
    skills = ", ".join(skill.id for skill in card.skills)
    return [
        *lines,
        styled(f"{read.path}: ", ("valid", "green"), f", {card.agent_id} {card.version} with {skills}"),
        styled((f"digest {digest(canonical(parse(read.raw)))}", "dim")),
    ]


def _count(problems: int) -> str:
    return "1 problem" if problems == 1 else f"{problems} problems"


def _document(found: CardFinding, kind: str) -> dict[str, object]:
    place = {} if found.line is None else {"line": found.line}
    return {"kind": kind, **place, "pointer": found.pointer, "rule": found.rule, "hint": found.hint}
