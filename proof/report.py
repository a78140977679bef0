"""The pages of the proof: docs/reliability/ with a JSON file for each area and a page that shows them, and
proof/INDEX.md, which names for each promise the function that proves it, and the invariants that the checker judges."""

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks._pages import machine
from proof.checker import CHECKS
from proof.runner import FOLDER, SOAK, Proved, area_named, area_names

_HEAD = """# Proof report

Written by `./dev prove --full`, area by area; each section is the latest full run of its area. It tells what must hold,
which faults or requests were caused ("Provoked") and how often each came in the step for which it was meant, the
figures with their bounds, and what did not hold. [The index](../../proof/INDEX.md#invariants) lists the
invariants, the rules that hold for every call.

| Area | Provoked | Figures out of bounds | Did not hold |
|---|---|---|---|
"""
INDEX = Path(__file__).with_name("INDEX.md")
_ROOT = INDEX.parents[1]
_INDEX_HEAD = """# Index of the proof

Written by `./dev prove --index` from the marks `@proves` and from the checker; do not edit. The command of an area is
`./dev prove AREA`.

"""
_INVARIANTS = """
## Invariants

Most areas give all they saw to `proof/checker.py` in the end. It judges each of these over every call, every Agent, the
Ledger, logs and metrics:

"""


def keep(proved: Proved, seed: int, folder: Path = FOLDER) -> None:
    """Renews the section of this area."""
    areas = folder / "areas"
    areas.mkdir(parents=True, exist_ok=True)
    area, findings = proved.area, proved.findings
    found = {
        "name": area.name,
        "title": area.title,
        "claims": list(area.claims),
        "hits": dict(sorted(findings.hits.items())),
        "figures": [asdict(figure) | {"held": figure.held} for figure in findings.figures],
        "problems": findings.problems,
        "seconds": round(proved.seconds),
        "seed": seed,
        "machine": machine() | {"postgres": proved.postgres},
    }
    (areas / f"{area.name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    (folder / "report.md").write_text(_page([json.loads(path.read_text()) for path in sorted(areas.glob("*.json"))]))


def _page(found: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"| [{area['title']}](#{area['name']}) | {sum(area['hits'].values()):,} "
        f"| {sum(not figure['held'] for figure in area['figures'])} | {len(area['problems'])} |\n"
        for area in found
    )
    return _HEAD + rows + "".join("\n".join(_section(area)) + "\n" for area in found)


def _section(area: dict[str, Any]) -> Iterator[str]:
    yield f"\n## {area['title']} {{ #{area['name']} }}\n"
    yield from (f"- {claim}" for claim in area["claims"])
    if area["hits"]:
        yield "\n| Provoked | Times |\n|---|---|"
        yield from (f"| {name} | {count:,} |" for name, count in area["hits"].items())
    if area["figures"]:
        yield "\n| Figure | Value | Bound | |\n|---|---|---|---|"
        yield from (_figure(figure) for figure in area["figures"])
    if area["problems"]:
        yield "\n**Did not hold:**\n"
        yield from (f"- {problem}" for problem in area["problems"])
    else:
        yield "\nEverything held."
    yield f"\n{_circumstances(area)}"


def _figure(figure: dict[str, Any]) -> str:
    bounds = [
        f"{sign} {_number(figure[name])}"
        for sign, name in (("≤", "at_most"), ("≥", "at_least"))
        if figure[name] is not None
    ]
    mark = ("held" if figure["held"] else "**missed**") if bounds else ""
    value = f"{_number(figure['value'])} {figure['unit']}".rstrip()
    return f"| {figure['name']} | {value} | {' and '.join(bounds)} | {mark} |"


def _number(value: float) -> str:
    """Whole from a hundred on, below that with three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _circumstances(area: dict[str, Any]) -> str:
    where = area["machine"]
    return (
        f"{where['measured']}, {area['seconds']} s, seed {area['seed']}, {where['cores']} cores,"
        f" {where['architecture']}, Python {where['python']}, PostgreSQL {where['postgres']}."
    )


def index() -> str:
    lines = [line for name in (*area_names(), SOAK) for line in _promises(name)]
    return _INDEX_HEAD + "\n".join(lines) + "\n" + _INVARIANTS + "".join(f"- {_words(check)}\n" for check in CHECKS)


def _promises(name: str) -> Iterator[str]:
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
