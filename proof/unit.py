"""Starts a unit of the platform with failpoints: `python -m proof.unit router --failpoint NAME=ACTION`.

The only way to get a failpoint into a process. It lies with the tests, which no package of the product carries.
"""

import argparse
import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from aop.cli import units
from proof import failpoints
from proof.switchboard import Armed, Switchboard


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof.unit")
    parser.add_argument("unit", choices=sorted(failpoints.OF_UNIT))
    parser.add_argument("--failpoint", type=Armed.read, help="POINT=ACTION, or POINT=ACTION@N for the Nth passing")
    parser.add_argument("--io", action="store_true", help="also make each kind of I/O call of an invocation a point")
    parser.add_argument("--control", type=Path, help="a socket to arm, await and release points by")
    chosen = parser.parse_args()
    board = Switchboard()
    failpoints.install(failpoints.OF_UNIT[chosen.unit], board)
    if chosen.io:
        failpoints.install_io(board)
    board.arm(chosen.failpoint)
    _accompany(board, chosen.control)
    return units.run_unit(chosen.unit)


def _accompany(board: Switchboard, control: Path | None) -> None:
    """The remote control lives on the unit's own loop, for as long as the unit."""
    plain = units._unit

    async def accompanied(name: str) -> None:
        server = None if control is None else await asyncio.start_unix_server(board.serve, control)
        try:
            await plain(name)
        finally:
            if server is not None:
                server.close()

    def started(name: str) -> Coroutine[Any, Any, None]:
        return accompanied(name)

    units._unit = started


if __name__ == "__main__":
    sys.exit(main())
