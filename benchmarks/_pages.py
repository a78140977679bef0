"""Keeps reports under docs/performance/: the figures as JSON, the plots as SVG, and a page that shows all of them."""

import json
import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._svg import drawn
from benchmarks.measure import Plot, Report, interpreter

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "performance"
_FIGURES, _PAGE = FOLDER / "figures", FOLDER / "figures.md"
_HEAD = """# Figures

Written by `./dev bench --write`; each section is one run on the machine it names. [How it is measured](index.md).
"""


def keep(report: Report, *, beside_others: bool = False) -> None:
    """`beside_others`: rows with another first cell, and their targets, stay as an earlier run left them."""
    _FIGURES.mkdir(parents=True, exist_ok=True)
    found = json.loads(report.as_json())
    before = _FIGURES / f"{report.name}.json"
    if beside_others and before.is_file():
        found = _merged(json.loads(before.read_text()), found)
    found["machine"] = machine()
    plots = found.pop("plots")
    found["plots"] = [{"name": plot["name"], "title": plot["title"]} for plot in plots]
    (_FIGURES / f"{report.name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    draw_all(_FIGURES, report.name, report.plots)
    _PAGE.write_text(
        _HEAD + "".join(_section(json.loads(path.read_text())) for path in sorted(_FIGURES.glob("*.json")))
    )


def _merged(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    first = next(iter(now["rows"][0]))
    rows = {row[first]: row for row in (*before["rows"], *now["rows"])}
    return now | {"rows": list(rows.values()), "targets": before["targets"] | now["targets"]}


def machine() -> dict[str, Any]:
    """What a reader of figures must know of where they come from, and no more."""
    return {
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": interpreter().removeprefix("Python "),
    }


def draw_all(folder: Path, name: str, plots: Sequence[Plot]) -> None:
    for plot in plots:
        (folder / f"{name}-{plot.name}.svg").write_text(drawn(plot))


def _section(found: dict[str, Any]) -> str:
    return "\n".join(_lines(found)) + "\n"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    machine = found["machine"]
    yield f"\n## {found['name'].replace('_', ' ').capitalize()}\n"
    yield f"{found['unit']}.\n"
    columns = list(found["rows"][0])
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in found["rows"]:
        yield "| " + " | ".join(_cell(row[column]) for column in columns) + " |"
    if found["targets"]:
        yield "\n| Bound | |\n|---|---|"
        yield from (f"| {promise} | {'met' if held else '**missed**'} |" for promise, held in found["targets"].items())
    for plot in found["plots"]:
        yield f"\n![{plot['title']}](figures/{found['name']}-{plot['name']}.svg)"
    yield (f"\n{machine['measured']}, {machine['cores']} cores, {machine['architecture']}, Python {machine['python']}.")


def _cell(value: float | str) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
