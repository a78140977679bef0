"""What a person sees when the local platform is ready: where it is, how to get in, what to try."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from aop.base import assets
from aop.base.settings import Secret
from aop.local.console_link import sign_in_link
from aop.local.samples import Sample
from aop.local.state import DEFAULT_FOLDER, Run
from aop.local.terminal import ColouredText, LineTerminal

_LABEL_WIDTH = 9
_GREEN, _DIM = 32, 2
_MAX_SINGLE_PORTS = 3

_NESTED = ("aop:meeting-brief", "digest-meetings")
"""The Skill whose work is done by calls to other Agents, three levels deep."""

Row = tuple[str, str]


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[msgspec.Raw, ...] = ()


@dataclass(frozen=True)
class Panel:
    run: Run
    allow_list: Sequence[str]
    folder: Path
    samples: Sequence[Sample] = ()
    code: Secret | None = None
    """Signs in to the Console, once."""

    def show(self, terminal: LineTerminal) -> None:
        """Lines can be copied: nothing is wrapped, and nothing follows the value."""
        if not terminal.coloured:
            for label, value in self._rows():
                terminal.show(f"{label:{_LABEL_WIDTH}} {value}".rstrip())
            return
        terminal.show(ColouredText(" The platform is running ".center(terminal.width, "─"), _GREEN))
        for label, value in self._rows()[1:]:
            terminal.show(ColouredText(f"{label:{_LABEL_WIDTH}} ", _DIM), value)
        terminal.show(ColouredText("─" * terminal.width, _GREEN))

    def _rows(self) -> list[tuple[str, str]]:
        run = self.run
        return [
            ("ready", "the platform is running"),
            ("Gateway", run.gateway),
            ("Router", run.router),
            *self._console(),
            *self._door(),
            *self._agents(),
            ("you are", f"{run.principal}; programs find its token, valid 1 day, in run.json"),
            ("allowed", ", ".join(_with_ranges(self.allow_list))),
            ("", "the only private addresses an Agent may have; more: --allow HOST:PORT"),
            ("data", f"{self.folder} (run.json for programs, logs/ for people)"),
            *_suggestions(run, self.samples, self.folder),
            ("stop", "Ctrl-C"),
        ]

    def _console(self) -> list[tuple[str, str]]:
        if self.run.console is None or self.code is None:
            return []
        again = f"{_program()} open{_data_option(self.folder)}"
        return [
            ("Console", sign_in_link(self.run.console, self.code.reveal())),
            ("", f"this link signs in once, within 10 minutes; a new one: {again}"),
        ]

    def _door(self) -> list[tuple[str, str]]:
        """The addresses of the Workspace, should there be one to name."""
        run = self.run
        if run.door is None:
            return []
        space = run.workspace_id or "WORKSPACE"
        return [("door", f"{run.door}/a2a/{space}/AGENT for A2A clients, {run.door}/mcp/{space} for MCP hosts")]

    def _agents(self) -> list[tuple[str, str]]:
        """Under one label, the Workspace they are installed in after them."""
        agents = self.run.agents or ()
        rows = [f"{agent.agent_id} {agent.version} at {agent.origin}" for agent in agents]
        if rows:
            rows.append(f"published by {self.run.principal}, installed in the Workspace {self.run.workspace_id}")
        return list(zip(["Agents", *[""] * len(rows)], rows, strict=False))


def _with_ranges(allow_list: Sequence[str]) -> Iterator[str]:
    """Many ports of one host in a row as one entry."""

    def place(numbered: tuple[int, str]) -> tuple[str, int]:
        number, entry = numbered
        host, _, port = entry.rpartition(":")
        return (host, int(port) - number) if port.isdigit() else (entry, number)

    for _, run in groupby(enumerate(allow_list), place):
        entries = [entry for _, entry in run]
        if len(entries) > _MAX_SINGLE_PORTS:
            yield f"{entries[0]}-{entries[-1].rpartition(':')[2]}"
        else:
            yield from entries


def _suggestions(run: Run, samples: Sequence[Sample], folder: Path) -> list[Row]:
    """Each is one line and works alone."""
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
    """Empty when the commands find the data folder without it."""
    usual = {Path.cwd() / DEFAULT_FOLDER, assets.folder("dev").parent / DEFAULT_FOLDER}
    return "" if folder.absolute() in usual else f" --data {shlex.quote(str(folder))}"


def _skills_with_example(sample: Sample) -> list[str]:
    return [
        skill.id for skill in sample.card.skills if msgspec.json.decode(skill.input_schema, type=_Examples).examples
    ]
