"""Starts a unit of the platform whose wall clock follows a file: `python -m proof.clocks.unit router FILE`."""

import sys
from pathlib import Path

from proof.clocks import shifted


def main(name: str, clock: str) -> int:
    shifted.install(Path(clock))
    from aop.cli import units  # noqa: PLC0415  the product takes its clock when it is imported

    return units.run_unit(name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
