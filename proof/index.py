"""Writes proof/INDEX.md: each promise and the function that proves it, and the invariants that the checker judges."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

from proof.checker import CHECKS
from proof.runner import SOAK, area_named, area_names

PAGE = Path(__file__).with_name("INDEX.md")
_ROOT = PAGE.parents[1]
_HEAD = """# Index of the proof

Written by `./dev prove --index` from the marks `@proves` and from the checker; do not edit. The command of an area is
`./dev prove AREA`.

"""
_INVARIANTS = """
## Invariants

Most areas give all they saw to `proof/checker.py` in the end. It judges each of these over every call, every Agent, the
Ledger, logs and metrics:

"""


def page() -> str:
    lines = [line for name in (*area_names(), SOAK) for line in _section(name)]
    return _HEAD + "\n".join(lines) + "\n" + _INVARIANTS + "".join(f"- {_words(check)}\n" for check in CHECKS)


def _section(name: str) -> Iterator[str]:
    area = area_named(name)
    yield f"## {area.title}: `{name}`\n"
    yield "| Promise | Proved by |\n|---|---|"
    yield from (f"| {promise} | `{_place(proof)}` |" for promise, proof in area.claims.items())
    yield ""


def _place(proof: Callable[..., object]) -> str:
    file = Path(inspect.getfile(proof)).resolve().relative_to(_ROOT)
    return f"{file} {proof.__qualname__}"


def _words(check: Callable[..., object]) -> str:
    return (inspect.getdoc(check) or "").splitlines()[0]
