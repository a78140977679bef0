"""Loads a command when it is asked for, gives it the options it shares with others, and ends it with an exit code."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from aop.contracts.text import cleaned
from aop.local.terminal import write_line

Function = Callable[..., Any]
# Of the errors that say how a command is used, Typer exports this one and not their common class.
_UsageError: Any = typer.BadParameter.__base__


@dataclass(frozen=True)
class Entry:
    """One command: its name (after its group's, if any), where its function is, and what help says of it first.

    `serves` marks a command that runs until it is stopped and has no outcome to tell.
    """

    name: str
    target: str
    summary: str
    panel: str | None = None
    serves: bool = False

    def function(self) -> Function:
        module, _, name = self.target.partition(":")
        try:
            found: Function = getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as missing:
            if str(missing.name).partition(".")[0] == "aop":
                raise
            # Somebody who installed less than the whole platform called a command of the part that is missing.
            write_line(f"aop {self.name} needs the package {missing.name}: pip install 'aop[platform]'", sys.stderr)
            raise typer.Exit(1) from None
        return found


class _Plain:
    """Help shows no type behind an option that takes no value; an error repeats an argument without what it hides."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _clean_usage():
            found: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
            return found


class Command(_Plain, TyperCommand):
    """A loaded command."""


class LazyGroup(_Plain, TyperGroup):
    """Lists its commands from their entries alone; only the one that is called is imported."""

    entries: dict[str, Entry]

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        with _clean_usage():
            name, command, rest = super().resolve_command(ctx, args)
        entry = self.entries.get(str(name))
        return name, command if entry is None else built(entry), rest


@contextmanager
def _clean_usage() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        error.message = cleaned(error.message, lines=False)
        raise


def group(entries: Sequence[Entry], **options: Any) -> typer.Typer:
    """A Typer whose commands are loaded when they are called."""
    known = {entry.name.split()[-1]: entry for entry in entries}
    lazy = type("LazyGroup", (LazyGroup,), {"entries": known})
    made = typer.Typer(cls=lazy, pretty_exceptions_enable=False, rich_markup_mode="rich", **options)
    for name, entry in known.items():
        made.command(name, help=entry.summary, rich_help_panel=entry.panel)(_not_loaded)
    return made


def built(entry: Entry) -> Any:
    """The command itself, as the command-line library wants it."""
    function = entry.function()
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    text = help_of(entry, function).replace("[", "\\[")
    alone.command(entry.name.split()[-1], cls=Command, help=text)(_called(function))
    return typer.main.get_command(alone)


def help_of(entry: Entry, function: Function) -> str:
    """The summary, then the function's own text: its paragraphs as one line each, its examples as they are."""
    text = inspect.getdoc(function) or ""
    paragraphs = [part if part.startswith("Example") else " ".join(part.split()) for part in text.split("\n\n") if part]
    return "\n\n".join([entry.summary, *paragraphs])


def _not_loaded() -> None:
    raise NotImplementedError


def _called(function: Function) -> Function:
    """The function as Typer is to see it: without its first parameter, with the options which that one stands for."""
    parameters = list(inspect.signature(function).parameters.values())
    subject = parameters[0].annotation if parameters else None
    shared = getattr(subject, "shared", None)
    if shared is None:
        return function

    def run(**given: Any) -> None:
        options = {name: given.pop(name) for name in shared}
        raise typer.Exit(_ended(subject, options, lambda opened: function(opened, **given)))

    named = inspect.Parameter.KEYWORD_ONLY
    own = [parameter.replace(kind=named) for parameter in parameters[1:]]
    added = [
        inspect.Parameter(name, named, default=default, annotation=kind) for name, (kind, default) in shared.items()
    ]
    run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _ended(subject: Any, options: dict[str, Any], act: Callable[[Any], Any]) -> int:
    from aop.cli.output import Output  # noqa: PLC0415  help needs none of these
    from aop.cli.problems import EXIT_INTERRUPTED, Problem  # noqa: PLC0415

    out = Output(as_json=options.pop("as_json"))
    try:
        outcome = act(out) if subject is Output else subject.opened(out, options, act)
        if inspect.iscoroutine(outcome):
            import asyncio  # noqa: PLC0415

            asyncio.run(outcome)
    except Problem as problem:
        out.problem(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0
