"""Completion by the shell: the script that asks aop for completions, shown or installed for bash, zsh or fish."""

import os
import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from aop.local.terminal import write_line

_VARIABLE = "_AOP_COMPLETE"
_FILES = {
    "bash": Path(".bash_completions/aop.sh"),
    "zsh": Path(".zfunc/_aop"),
    "fish": Path(".config/fish/completions/aop.fish"),
}
_START_LINES = {
    "bash": (Path(".bashrc"), "source ~/.bash_completions/aop.sh"),
    "zsh": (Path(".zshrc"), "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
}
"""What a shell reads when it starts, and the line that makes it find the script; fish finds it by itself."""


def show(command: click.Command) -> None:
    write_line(_script(command, _shell()), sys.stdout)


def install(command: click.Command) -> None:
    shell, home = _shell(), Path.home()
    file = home / _FILES[shell]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_script(command, shell) + "\n")
    if shell in _START_LINES:
        start_file, line = home / _START_LINES[shell][0], _START_LINES[shell][1]
        before = start_file.read_text() if start_file.exists() else ""
        if line not in before.splitlines():
            start_file.write_text(f"{before.rstrip()}\n{line}\n".lstrip("\n"))
    write_line(f"installed completion for {shell} in {file}; it works in every shell you start from now on", sys.stdout)


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name  # noqa: TID251
    if name not in _FILES:
        raise click.UsageError(f"completion exists for {', '.join(_FILES)}; the variable SHELL names none of them")
    return name


def _script(command: click.Command, shell: str) -> str:
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"completion for {shell} is not available")
    script = found(command, {}, "aop", _VARIABLE).source()
    # Click's script for fish splits at every comma, which would cut a description at its first one.
    return script.replace('string split ","', 'string split --max 1 ","')
