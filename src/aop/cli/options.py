"""The options that commands share: each command gets those of the thing it works on."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

Shared = Mapping[str, tuple[Any, Any]]
"""By parameter name: its annotation and its default."""

_JSON = Annotated[bool, typer.Option("--json", help="Write JSON for programs: the documents of the contract.")]
PROFILE = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="The profile to use; see `aop profiles`.")
]
DATA = Annotated[
    str | None, typer.Option("--data", metavar="DIR", help="Use the local platform that runs on this data folder.")
]
_WORKSPACE = Annotated[
    str | None,
    typer.Option("--workspace", "-w", metavar="ID", help="The Workspace; else the one in use, else the only one."),
]

OUTPUT: Shared = {"as_json": (_JSON, False)}
PLATFORM: Shared = {"profile": (PROFILE, None), "data": (DATA, None), **OUTPUT}
IN_WORKSPACE: Shared = {"workspace": (_WORKSPACE, None), **PLATFORM}
