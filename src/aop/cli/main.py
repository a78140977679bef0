"""Entry of the aop command: the units directly, everything else through the command tree."""

import sys

from aop.local.terminal import write_line

_UNITS = ("control-plane", "router", "console", "door")


def main() -> int:
    # A unit runs for months; it starts faster and stays smaller without the command-line library loaded.
    if len(sys.argv) == 2 and sys.argv[1] in _UNITS:
        from aop.cli.units import run_unit  # noqa: PLC0415

        return run_unit(sys.argv[1])
    try:
        from aop.cli.commands import app  # noqa: PLC0415

        app(prog_name="aop")
    except KeyboardInterrupt:  # before any command could take it
        return 130
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        write_line("aop: the command line needs more packages: pip install 'aop[cli]'", sys.stderr)
        return 1
    return 0
