"""What to try on a platform that just became ready: commands to paste into another terminal, in this order."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aop.base import assets
from aop.local.samples import Sample
from aop.local.state import DEFAULT_FOLDER, Run

_NESTED = ("aop:meeting-brief", "digest-meetings")
"""The Skill whose work is done by calls to other Agents, three levels deep."""

Row = tuple[str, str]


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[msgspec.Raw, ...] = ()


def suggestions(run: Run, samples: Sequence[Sample], folder: Path) -> list[Row]:
    """Each is one line that needs nothing before it."""
    aop, data = _program(), _data_option(folder)
    tried = [(sample, skill) for sample in samples for skill in _skills_with_example(sample)]
    if run.workspace_id is None or not tried:
        return [("try", f"{aop} status{data}"), ("make one", f"{aop} init my-agent")]
    sample, skill = tried[0]
    first = f"{aop} invoke {sample.card.agent_id} {skill} --example"
    rows = [("try", f"{aop} search{data}"), ("invoke", first + data)]
    if sample.card.limits.streaming:
        rows.append(("stream", f"{first} --stream{data}"))
    if any((other.card.agent_id, name) == _NESTED for other, name in tried):
        rows.append(("nested", f"{aop} invoke {' '.join(_NESTED)} --example --trace{data}"))
    return [*rows, ("inspect", f"{aop} trace --last{data}"), ("make one", f"{aop} init my-agent")]


def _program() -> str:
    """The aop command as the reader can call it from here: by ./dev in a checkout, by its name when installed."""
    dev = assets.folder("dev")
    if not dev.is_file():
        return "aop"
    relative = os.path.relpath(dev)
    return f"{shlex.quote(str(dev) if relative.startswith('..') else os.path.join('.', relative))} aop"


def _data_option(folder: Path) -> str:
    """Nothing where the commands find the data folder by themselves."""
    usual = {Path.cwd() / DEFAULT_FOLDER, assets.folder("dev").parent / DEFAULT_FOLDER}
    return "" if folder.absolute() in usual else f" --data {shlex.quote(str(folder))}"


def _skills_with_example(sample: Sample) -> list[str]:
    return [
        skill.id for skill in sample.card.skills if msgspec.json.decode(skill.input_schema, type=_Examples).examples
    ]
