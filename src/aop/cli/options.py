"""The options that commands share: a command gets those of the object it works on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

Function = Callable[..., Any]
Declare = Callable[[Function], Function]
"""Adds an option or argument to a command's function."""

PATH = click.Path(path_type=Path)

_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for programs: the documents of the contract.")
profile = click.option("--profile", metavar="NAME", help="The profile to use; see `aop profiles`.")
data = click.option("--data", metavar="DIR", help="Use the local platform that runs on this data folder.")
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


def limit(default: int) -> Declare:
    return click.option(
        "--limit", metavar="N", default=default, type=click.IntRange(1, 10_000), help="The maximum number of items."
    )


OUTPUT: Sequence[Declare] = (_json,)
PLATFORM: Sequence[Declare] = (profile, data, ca, *OUTPUT)
IN_WORKSPACE: Sequence[Declare] = (_workspace, *PLATFORM)
SERVING_WORKSPACE: Sequence[Declare] = (_workspace, profile, data, ca)
"""Of a command that runs until it is stopped: it has no outcome to write."""
