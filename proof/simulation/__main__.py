"""`python -m proof.simulation SEED [COUNT]`: one seed with its history, or COUNT of them as JSON."""

import json
import sys
from collections.abc import Sequence
from contextlib import closing

from proof.simulation.loop import SimulatedLoop
from proof.simulation.seeds import run_seed, run_seeds


def main(arguments: Sequence[str]) -> int:
    first = int(arguments[0])
    if len(arguments) == 1:
        with closing(SimulatedLoop()) as loop:
            run = run_seed(first, loop)
        print(run)  # noqa: T201  whoever reads it asked for it
        return 1 if run.broken else 0
    runs = run_seeds(range(first, first + int(arguments[1])))
    found = {"count": runs.count, "hits": runs.hits, "failing": [str(run) for run in runs.failing]}
    print(json.dumps(found))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
