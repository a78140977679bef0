"""The options that commands share: a command gets those of the object it works on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from aop.base.share import usable_cores

Function = Callable[..., Any]
Declare = Callable[[Function], Function]
"""Adds an option or argument to a command's function."""

PATH = click.Path(path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for programs: the documents of the contract.")
profile = click.option("--profile", metavar="NAME", help="The profile to use; see `aop profiles`.")
data = click.option("--data", metavar="DIR", type=PATH, help="Use the local platform that runs on this data folder.")
local_data = click.option(
    "--data", metavar="DIR", type=PATH, help="Data folder of the local platform; default: one that runs nearby."
)
card_file = click.argument(
    "file", metavar="[FILE]", default=Path("card.json"), type=PATH, help="The Agent Card; default: card.json."
)
_workspace = click.option(
    "--workspace", "-w", metavar="ID", help="The Workspace; default: the one in use, or the only one."
)
ca = click.option(
    "--ca",
    metavar="FILE",
    type=PATH,
    help="Trust the certificate authorities of this PEM file; default: the profile's, or SSL_CERT_FILE.",
)
yes = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")


class _Workers(click.ParamType[int]):
    """How many processes a unit has: a number, or as many as there are cores that it may use."""

    name = "workers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "auto":
            return min(usable_cores(), MAX_WORKERS)
        if not isinstance(value, str) or not value.isdecimal() or not 1 <= int(value) <= MAX_WORKERS:
            self.fail(f"must be auto, or a number from 1 to {MAX_WORKERS}", param, ctx)
        return int(value)


MAX_WORKERS = 64
WORKERS: dict[str, Any] = {
    "metavar": "N",
    "type": _Workers(),
    "help": "Serve with N processes behind the one address; auto: one for each core. Default: one process.",
}
workers = click.option("--workers", **WORKERS)


def limit(default: int) -> Declare:
    return click.option(
        "--limit", metavar="N", default=default, type=click.IntRange(1, 10_000), help="The maximum number of items."
    )


OUTPUT: Sequence[Declare] = (_json,)
PLATFORM: Sequence[Declare] = (profile, data, ca, *OUTPUT)
IN_WORKSPACE: Sequence[Declare] = (_workspace, *PLATFORM)
SERVING_WORKSPACE: Sequence[Declare] = (_workspace, profile, data, ca)
"""Of a command that runs until it is stopped: it has no outcome to write."""
