"""What a person sees when the local platform is ready: where it is, how to get in, what to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aop.local.samples import Sample
from aop.local.state import Run
from aop.local.suggestions import suggestions
from aop.local.terminal import LineTerminal, Painted

_LABEL_WIDTH = 9
_GREEN, _DIM = 32, 2


@dataclass(frozen=True)
class Panel:
    run: Run
    allow_list: Sequence[str]
    folder: Path
    samples: Sequence[Sample] = ()

    def show(self, terminal: LineTerminal) -> None:
        """Lines can be copied as they are: nothing is wrapped and nothing stands at their end."""
        if not terminal.coloured:
            for label, value in self._rows():
                terminal.show(f"{label:{_LABEL_WIDTH}} {value}".rstrip())
            return
        terminal.show(Painted(" The platform is running ".center(terminal.width, "─"), _GREEN))
        for label, value in self._rows()[1:]:
            terminal.show(Painted(f"{label:{_LABEL_WIDTH}} ", _DIM), value)
        terminal.show(Painted("─" * terminal.width, _GREEN))

    def _rows(self) -> list[tuple[str, str]]:
        run = self.run
        return [
            ("ready", "the platform is running"),
            ("Gateway", run.gateway),
            ("Router", run.router),
            *self._console(),
            *self._agents(),
            ("token", f"{run.token}"),
            ("", f"for the principal {run.principal}, valid 1 day; more: aop token create --data {self.folder} …"),
            ("allowed", ", ".join(self.allow_list)),
            ("", "the only private addresses an Agent may have; more: --allow HOST:PORT"),
            ("data", f"{self.folder} (run.json for programs, logs/ for people)"),
            *suggestions(run, self.samples, self.folder),
            ("stop", "Ctrl-C"),
        ]

    def _console(self) -> list[tuple[str, str]]:
        """The link signs in: a fragment never leaves the browser, and the Console takes it out of the address."""
        if self.run.console is None:
            return []
        return [("Console", f"{self.run.console}/#token={self.run.token}")]

    def _agents(self) -> list[tuple[str, str]]:
        """Under one label, the Workspace they are installed in after them."""
        agents = self.run.agents or ()
        rows = [f"{agent.agent_id} {agent.version} at {agent.origin}" for agent in agents]
        if rows:
            rows.append(f"published by {self.run.principal}, installed in the Workspace {self.run.workspace_id}")
        return list(zip(["Agents", *[""] * len(rows)], rows, strict=False))
