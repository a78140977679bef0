"""The list of drawn mutants and the report of their trials, as files: JSON for programs, Markdown for people."""

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.mutants.mutant import Mutant
from tests.mutants.trial import CAUGHT, Outcome, Trial


def write_list(path: Path, seed: int, commit: str, mutants: Sequence[Mutant]) -> None:
    numbered = [{"number": number, **asdict(mutant)} for number, mutant in enumerate(mutants, 1)]
    _write(path, {"seed": seed, "commit": commit, "mutants": numbered})


def read_list(path: Path) -> list[Mutant]:
    return [_mutant(one) for one in json.loads(path.read_text("utf-8"))["mutants"]]


def write_trials(path: Path, trials: Mapping[int, Trial]) -> None:
    ordered = dict(sorted(trials.items()))
    _write(path, {"trials": [{"number": number, **asdict(trial)} for number, trial in ordered.items()]})
    lines = [
        f"{summary(ordered.values())}\n",
        "| No | Place | Change | Outcome | By | Tests given | Seconds |",
        "|---|---|---|---|---|---|---|",
        *(_row(number, trial) for number, trial in ordered.items()),
    ]
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", "utf-8")


def read_trials(path: Path, without: Iterable[int]) -> dict[int, Trial]:
    """An earlier report, but for what is judged again."""
    known: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["trials"] if path.is_file() else []
    trials = {int(one.pop("number")): _trial(one) for one in known}
    return {number: trial for number, trial in trials.items() if number not in set(without)}


def summary(trials: Iterable[Trial]) -> str:
    counts = Counter(trial.outcome for trial in trials)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if outcome not in CAUGHT)
    caught = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if outcome in CAUGHT and counts[outcome])
    return f"Of {counts.total()} mutants: {', '.join(filter(None, (caught, told)))}."


def _row(number: int, trial: Trial) -> str:
    place, _, operator = trial.mutant.name.partition(" ")
    flaky = f" (not counted: {', '.join(trial.flaky)})" if trial.flaky else ""
    change = f"{operator}: {_difference(trial.mutant)}"
    cells = (number, place, change, trial.outcome, f"{trial.test or ''}{flaky}", trial.met, trial.seconds)
    return f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in cells)} |"


def _difference(mutant: Mutant) -> str:
    lines = difflib.ndiff(mutant.old.splitlines(), mutant.new.splitlines())
    changed = {sign: " ".join(line[2:].strip() for line in lines_of) for sign, lines_of in _by_sign(lines).items()}
    return f"`{changed.get('-', '')}` → `{changed.get('+', '')}`"


def _by_sign(lines: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line[0], []).append(line)
    return found


def _trial(content: dict[str, Any]) -> Trial:
    typed = {"mutant": _mutant(content["mutant"]), "outcome": Outcome(content["outcome"])}
    return Trial(**content | typed | {"flaky": tuple(content["flaky"])})


def _mutant(content: Mapping[str, Any]) -> Mutant:
    return Mutant(**{name: content[name] for name in ("name", "file", "old", "new", "why")})


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
