"""The capacity page follows from the measured figures: its sums are right, and calls cost no more than it says."""

import json
import math
import re

from tests.docs.blocks import ROOT

_PAGE = (ROOT / "docs" / "guides" / "capacity.md").read_text("utf-8")
_FIGURES = ROOT / "docs" / "performance" / "figures"
_BUSY = 0.6
_CONNECTIONS = 26
_DAY = 86_400
_GROWTH_ALLOWED = 1.2


def number(text: str) -> int:
    return int(re.sub(r"[^\d]", "", text))


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this first heading, without its two lines of heading."""
    table = _PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def costs() -> tuple[float, float, float, float]:
    """Of one Invocation in Control Plane, Router, the Router that numbers, and PostgreSQL, in seconds."""
    control_plane, router, numbering, postgres = (number(cells[1]) / 1e6 for cells in rows("Part | CPU, µs | Why"))
    return control_plane, router, numbering, postgres


def test_the_table_follows_from_what_one_invocation_costs() -> None:
    control_plane, router, numbering, postgres = costs()
    ledger, wal = (number(cells[1]) for cells in rows("Part | Bytes"))
    planned = [[number(cell) for cell in cells] for cells in rows("Invocations per second")]
    assert [plan[0] for plan in planned] == [100, 1_000, 10_000, 100_000]
    for rate, *plan in planned:
        control_planes = math.ceil(rate * control_plane / _BUSY) + 1
        routers = math.ceil(rate * (router + numbering) / _BUSY) + 1
        expected = [
            *(control_planes, routers, math.ceil(rate * postgres / _BUSY), _CONNECTIONS * (control_planes + routers)),
            *(round(rate * size * _DAY / 1e9) for size in (ledger, wal)),
        ]
        assert plan == expected, rate


def test_calls_cost_no_more_than_the_page_says() -> None:
    measured = {row["what"]: row["value"] for row in json.loads((_FIGURES / "invocations.json").read_text())["rows"]}
    control_plane, router, _, postgres = costs()
    for unit, cost in (("Gateway", control_plane), ("Router", router), ("PostgreSQL", postgres)):
        assert measured[f"{unit}, µs CPU per call"] <= _GROWTH_ALLOWED * cost * 1e6, unit
