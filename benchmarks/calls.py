"""What one Invocation runs in Gateway and Router, counted without a clock: the same from run to run.

One caller sends calls to a scripted Agent, one after the other. The figures are those that more than half of the calls
have in common: a call in a new second, or with the last id of a reserve, runs a little more than others.
"""

import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import uvloop

from benchmarks._call_counter import AWAITS, BACKGROUND, BYTES, CALLS, STATEMENTS, STORE_BYTES, TASKS, TIMERS
from benchmarks._counted_platform import GATEWAY, ROUTER, CountedPlatform, Counts, counted_platform
from benchmarks._system_calls import OTHERS, WAITS, NotPermitted
from benchmarks.measure import Figure, Report

KEPT = Path(__file__).resolve().parent.parent / "tests" / "performance" / "calls.json"
COUNTED, TRACED = 30, 15
RUNS, CALLS_OF_EACH = 3, 12
"""At many callers: how often it is measured, and the calls of each caller."""

_KINDS = (CALLS, AWAITS, TASKS, TIMERS, STATEMENTS, BYTES, STORE_BYTES)
_SYSTEM = "system calls: "
_STEP, _MODULE, _FUNCTION = "step ", "module ", "function "
_UNKEPT = (_SYSTEM + WAITS, _SYSTEM + OTHERS)
"""How often the loop waits, and how memory is got, follows from the moment at which something arrives."""

Figures = Mapping[str, int]
"""Of one unit, by what is counted."""


class NotSteady(Exception):
    """No two calls out of three ran the same: there is nothing to compare with other runs."""


def run(callers: int = 1, *, functions: bool = False) -> Report:
    return uvloop.run(_alone(functions) if callers == 1 else _together(callers, functions))


def keep(report: Report) -> None:
    """For the test that compares later runs with this one."""
    units = {unit: {str(row["what"]): row[unit] for row in report.rows if row[unit]} for unit in (GATEWAY, ROUTER)}
    kept = {unit: {what: n for what, n in found.items() if _is_kept(what)} for unit, found in units.items()}
    KEPT.write_text(json.dumps({"python": _version(), **kept}, indent=1) + "\n")


def kept() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(KEPT.read_text())
    return found


def differences(unit: str, before: Figures, now: Figures) -> list[str]:
    """One line for each figure that is another one, in the order of the report. System calls that were not counted now
    are none."""
    is_traced = any(what.startswith(_SYSTEM) for what in now)
    names = [what for what in {**before, **now} if _is_kept(what) and (is_traced or not what.startswith(_SYSTEM))]
    changed = [(what, before.get(what, 0), now.get(what, 0)) for what in sorted(names, key=_place)]
    return [f"{unit}, {what}: {old} -> {new} ({new - old:+})" for what, old, new in changed if old != new]


async def counted() -> Mapping[str, Figures]:
    """What one call of a lone caller runs in each unit."""
    async with counted_platform() as counting:
        return await _figures(counting, functions=False)


async def _alone(functions: bool) -> Report:
    before = kept()
    async with counted_platform() as counting:
        found = await _figures(counting, functions=functions)
    targets = {}
    if before["python"] == _version():
        changes = [line for unit in found for line in differences(unit, before[unit], found[unit])]
        targets = dict.fromkeys(changes, False) or {"as tests/performance/calls.json has it": True}
    return Report("calls", "one Invocation, one caller", _rows([found], [""]), targets)


async def _together(callers: int, functions: bool) -> Report:
    count, found = callers * CALLS_OF_EACH, []
    async with counted_platform() as counting:
        for _ in range(RUNS):
            counts = await counting.together(callers, count)
            found.append({unit: _summed(counts[unit], functions=functions) for unit in counts})
    each = [{unit: {what: f"{n / count:.2f}" for what, n in of.items()} for unit, of in one.items()} for one in found]
    columns = [f", run {number}" for number in range(1, RUNS + 1)]
    return Report("calls", f"one Invocation, {callers} callers, mean of {count}", _rows(each, columns))


async def _figures(counting: CountedPlatform, *, functions: bool) -> dict[str, dict[str, int]]:
    each: dict[str, list[Counts]] = {GATEWAY: [], ROUTER: []}
    traced: dict[str, list[Mapping[str, int]]] = {GATEWAY: [], ROUTER: []}
    async for counts in counting.each_call(COUNTED):
        for unit, found in counts.items():
            each[unit].append(found)
    try:
        async for calls in counting.system_calls(TRACED):
            for unit, kinds in calls.items():
                traced[unit].append(kinds)
    except NotPermitted:
        pass  # then there are no such rows
    return {
        unit: _majority([_summed(one, functions=functions) for one in each[unit]]) | _system_calls(traced[unit])
        for unit in each
    }


def _summed(counts: Counts, *, functions: bool) -> dict[str, int]:
    """In all, by step, by module and perhaps by function. Of the background there is one row for each part."""
    summed: Counter[str] = Counter()
    for step, module, function, count in counts["calls"]:
        if step.startswith(BACKGROUND):
            summed[step] += count
            continue
        summed[CALLS] += count
        summed[f"{_STEP}{step}: {CALLS}"] += count
        summed[_MODULE + module] += count
        if functions:
            summed[f"{_FUNCTION}{module}:{function}"] += count
    for step, kind, count in counts["others"]:
        if not step.startswith(BACKGROUND):
            summed[kind] += count
            summed[f"{_STEP}{step}: {kind}"] += count
    return dict(summed)


def _majority(found: Iterable[Figures]) -> dict[str, int]:
    own = [{what: n for what, n in one.items() if not what.startswith(BACKGROUND)} for one in found]
    seen = Counter(json.dumps(one, sort_keys=True) for one in own)
    same, count = seen.most_common(1)[0]
    if count <= len(own) / 2:
        raise NotSteady(f"only {count} of {len(own)} calls ran the same")
    figures: dict[str, int] = json.loads(same)
    return figures


def _system_calls(found: Sequence[Mapping[str, int]]) -> dict[str, int]:
    if not found:
        return {}
    kept_kinds = [{_SYSTEM + kind: n for kind, n in one.items() if _is_kept(_SYSTEM + kind)} for one in found]
    waits = Counter(one.get(WAITS, 0) for one in found)
    return {**_majority(kept_kinds), _SYSTEM + WAITS: waits.most_common(1)[0][0]}


def _rows(found: Sequence[Mapping[str, Mapping[str, Figure]]], columns: Sequence[str]) -> list[Mapping[str, Figure]]:
    names = {what for one in found for of_unit in one.values() for what in of_unit}
    return [
        {"what": what}
        | {
            f"{unit}{column}": one[unit].get(what, 0)
            for one, column in zip(found, columns, strict=True)
            for unit in (GATEWAY, ROUTER)
        }
        for what in sorted(names, key=_place)
    ]


def _place(what: str) -> tuple[int, str]:
    """Totals first, in their order; then steps, modules, functions and the background."""
    if what in _KINDS:
        return _KINDS.index(what), what
    parts = (_SYSTEM, _STEP, _MODULE, _FUNCTION, BACKGROUND)
    return len(_KINDS) + next(place for place, prefix in enumerate(parts) if what.startswith(prefix)), what


def _is_kept(what: str) -> bool:
    return what not in _UNKEPT and not what.startswith((BACKGROUND, _FUNCTION))


def _version() -> str:
    return ".".join(platform.python_version_tuple()[:2])
