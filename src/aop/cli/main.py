"""Entry of the aop command: the units directly, everything else through the command tree."""

import os
import sys

from aop.cli.shell.extras import is_missing_package, missing_extra
from aop.local.terminal import write_line

_UNITS = ("control-plane", "router", "console", "door")
_EXIT_INTERRUPTED = 130


def main() -> int:
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:  # before any command could take it
        return _EXIT_INTERRUPTED
    except ModuleNotFoundError as missing:
        if not is_missing_package(missing):
            raise
        command = next((word for word in sys.argv[1:2] if not word.startswith("-")), "")
        write_line(missing_extra(command, missing), sys.stderr)
        return os.EX_CONFIG


def _run(arguments: list[str]) -> int:
    # A unit runs for months; it starts faster and stays smaller without the command-line library loaded.
    if len(arguments) == 1 and arguments[0] in _UNITS:
        from aop.cli.operator.units import run_unit  # noqa: PLC0415

        return run_unit(arguments[0])
    from aop.cli.commands import app  # noqa: PLC0415

    app(prog_name="aop")
    return 0
