"""Finds the local platform a person means without saying so: one that runs on a data folder near them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aop.base import assets
from aop.local.problems import NotRunning
from aop.local.state import DEFAULT_FOLDER, Run, load_run

DATA = "AOP_DATA"


@dataclass(frozen=True)
class LocalPlatform:
    folder: Path
    run: Run


def find_local(start: Path, environment: Mapping[str, str]) -> LocalPlatform | None:
    """On the data folder that AOP_DATA names; else the first that runs on one here or above, or the checkout's own."""
    named = environment.get(DATA)
    for folder in _candidates(start) if named is None else (Path(named),):
        try:
            return LocalPlatform(folder, load_run(folder))
        except NotRunning:
            continue
    return None


def _candidates(start: Path) -> Iterator[Path]:
    here = start.absolute()
    checkout = assets.folder("agents").parent
    for folder in (here, *here.parents, checkout):
        data = folder / DEFAULT_FOLDER
        # A folder that somebody else put on the way up is not ours to trust.
        with suppress(OSError):
            if data.stat().st_uid == os.getuid():
                yield data
