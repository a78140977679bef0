"""Loads a command when it is called, gives it the options it shares with others, and ends it with an exit code."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from click.exceptions import Exit

from aop.cli.shell.extras import is_missing_package, missing_extra
from aop.cli.shell.options import Function
from aop.contracts.text import cleaned
from aop.local.terminal import write_line

_SETTINGS = {"show_default": True, "max_content_width": 100}


@dataclass(frozen=True)
class Entry:
    """One command: its name (after its group's, if any), where its function is, and what help says of it first.

    `serves` marks a command that runs until it is stopped and has no outcome to tell.
    """

    name: str
    target: str
    summary: str
    panel: str = ""
    serves: bool = False

    def function(self) -> Function:
        module, _, name = self.target.partition(":")
        try:
            found: Function = getattr(importlib.import_module(f"aop.cli.{module}"), name)
        except ModuleNotFoundError as missing:
            if not is_missing_package(missing):
                raise
            write_line(missing_extra(self.name, missing), sys.stderr)
            raise Exit(os.EX_CONFIG) from None
        return found

    def command(self) -> click.Command:
        function = self.function()
        callback = _called(function)
        return click.Command(
            self.name.split()[-1],
            callback=callback,
            params=parameters_of(callback),
            help=help_of(self, function),
            context_settings=_SETTINGS,
        )


class LazyGroup(click.Group):
    """Lists its commands from their entries alone; only the one that is called is imported."""

    def __init__(
        self, name: str, entries: Sequence[Entry], groups: Mapping[str, Sequence["LazyGroup"]] = {}, **options: Any
    ) -> None:
        super().__init__(name, context_settings=_SETTINGS, **options)
        self._entries = {entry.name.split()[-1]: entry for entry in entries}
        self._panels: dict[str, list[str]] = {}
        for short_name, entry in self._entries.items():
            self._panels.setdefault(entry.panel or "Commands", []).append(short_name)
            self.add_command(click.Command(short_name, short_help=entry.summary))
        for panel, members in groups.items():
            for member in members:
                self._panels.setdefault(panel, []).append(str(member.name))
                self.add_command(member)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        entry = self._entries.get(str(name))
        return name, command if entry is None else entry.command(), rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for panel, names in self._panels.items():
            with formatter.section(panel):
                formatter.write_dl([(f"{name:<{width}}", self.commands[name].get_short_help_str()) for name in names])


@contextmanager
def clean_usage(context: click.Context) -> Iterator[None]:
    """An error repeats an argument without the characters that hide or move text."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # our own text
    except click.UsageError as error:
        clean = click.UsageError(cleaned(error.format_message(), lines=False), error.ctx or context)
        raise clean from None


def help_of(entry: Entry, function: Function) -> str:
    """The summary, then the function's own text: its paragraphs as one line each, its examples as they are."""
    text = inspect.getdoc(function) or ""
    # Click keeps the lines of a paragraph that begins with this mark.
    paragraphs = [
        f"\b\n{part}" if part.startswith("Example") else " ".join(part.split()) for part in text.split("\n\n") if part
    ]
    return "\n\n".join([entry.summary, *paragraphs])


def parameters_of(function: Function) -> list[click.Parameter]:
    """In the order in which they are declared; decorators add the last one first."""
    return list(reversed(getattr(function, "__click_params__", [])))


def _called(function: Function) -> Function:
    """The function as Click calls it: without its first parameter, with the options which that one stands for."""
    subject = next((one.annotation for one in inspect.signature(function).parameters.values()), None)
    shared = getattr(subject, "shared", None)
    if shared is None:
        return function

    def run(**values: Any) -> None:
        options = {name: values.pop(name) for name in shared_names}
        raise Exit(_ended(subject, options, values, lambda opened: function(opened, **values)))

    for declare in reversed(shared):
        run = declare(run)
    shared_names = [str(parameter.name) for parameter in parameters_of(run)]
    declared = [*getattr(run, "__click_params__", []), *getattr(function, "__click_params__", [])]
    run.__click_params__ = declared  # type: ignore[attr-defined]  # where Click keeps them
    return run


def _ended(subject: Any, options: dict[str, Any], arguments: Mapping[str, Any], act: Callable[[Any], Any]) -> int:
    from aop.cli.shell.output import Output  # noqa: PLC0415  help needs none of these
    from aop.cli.shell.problems import EXIT_INTERRUPTED, CommandProblem  # noqa: PLC0415

    out = Output(as_json=options.pop("as_json", False))
    try:
        opens = not issubclass(subject, Output)
        outcome = subject.opened(out, options, act, arguments) if opens else act(out)
        if inspect.iscoroutine(outcome):
            import asyncio  # noqa: PLC0415

            asyncio.run(outcome)
    except CommandProblem as problem:
        out.problem(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0
