"""`python -m proof.simulation SEED`: the whole history of a seed."""

import sys
from contextlib import closing

from proof.simulation.seeds import run_seed
from tests.ledger.simulated.loop import SimulatedLoop

if __name__ == "__main__":
    with closing(SimulatedLoop()) as loop:
        run = run_seed(int(sys.argv[1]), loop)
    print(run)  # noqa: T201  whoever reads it asked for it
    sys.exit(1 if run.broken else 0)
