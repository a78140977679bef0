"""Starts a unit of the platform with failpoints: `python -m proof.unit router CONTROL`.

The only way to get a failpoint into a process. It lies with the tests, which no package of the product carries.
"""

import argparse
import asyncio
import sys
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

from aop.cli import units
from proof import failpoints
from proof.switchboard import Armed, Switchboard


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof.unit")
    parser.add_argument("unit", choices=sorted(failpoints.OF_UNIT))
    parser.add_argument("control", type=Path, help="a socket to arm, await and release points by")
    parser.add_argument("--failpoint", type=Armed.read, help="POINT=ACTION, or POINT=ACTION@N for the Nth passing")
    chosen = parser.parse_args()
    board = Switchboard()
    failpoints.install((*failpoints.OF_UNIT[chosen.unit], *failpoints.IO), board)
    board.arm(chosen.failpoint)
    _accompany(board, chosen.control)
    return units.run_unit(chosen.unit)


def _accompany(board: Switchboard, control: Path) -> None:
    """The remote control lives on the unit's own loop, for as long as the unit."""
    plain = units._unit

    async def accompanied(name: str) -> None:
        with closing(await asyncio.start_unix_server(board.serve, control)):
            await plain(name)

    def started(name: str) -> Coroutine[Any, Any, None]:
        return accompanied(name)

    units._unit = started


if __name__ == "__main__":
    sys.exit(main())
