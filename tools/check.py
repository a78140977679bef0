"""Runs every static check of the repository, shows each as it goes, and says at the end how to rerun what failed."""

import subprocess
import sys
import time
from pathlib import Path

from tools.interpreters import LEFT_OUT
from tools.process_tree import ending_all

ROOT = Path(__file__).resolve().parents[1]
_PYTHON = sys.executable
_BIN = Path(_PYTHON).parent

CHECKS: dict[str, list[str]] = {
    "format": [str(_BIN / "ruff"), "format", "--check", "--quiet", ".", "dev"],
    "lint": [str(_BIN / "ruff"), "check", "--quiet", ".", "dev"],
    "types": [_PYTHON, "-m", "tools.type_check"],
    "framework-types": [_PYTHON, "-m", "tools.type_check", "--frameworks"],
    "words": [_PYTHON, "-m", "tools.words"],
    "imports": [str(_BIN / "lint-imports"), "--no-cache"],
    "structure": [_PYTHON, "-m", "tools.structure"],
    "package-name": [_PYTHON, "-m", "tools.package_name"],
    "locks": [_PYTHON, "-m", "tools.lock_files"],
    "sbom": [_PYTHON, "-m", "tools.sbom", "--check"],
    "contracts": [_PYTHON, "-m", "tools.contracts"],
    "agreement": [_PYTHON, "-m", "pytest", "tests/contracts"],
    "console-types": [_PYTHON, "-m", "tools.console_types", "--check"],
    "console": [_PYTHON, "-m", "tools.console_build", "--all", "format", "lint", "types", "test"],
    "cli-reference": [_PYTHON, "-m", "tools.cli_reference", "--check"],
    "docs": [_PYTHON, "-m", "tools.docs", "check"],
    "acceptance": [_PYTHON, "-m", "tools.acceptance", "--check"],
    "newest-python": [_PYTHON, "-m", "tools.interpreters"],
}
_TESTED = ("framework-types", "contracts", "agreement", "docs")
"""Their whole work is done by tests too."""
_SECOND_RING = ("newest-python",)
RINGS = {
    "--first-ring": [name for name in CHECKS if name not in {*_TESTED, *_SECOND_RING}],
    "--second-ring": [*_SECOND_RING],
}
"""What runs beside the tests of each ring."""


def main(arguments: list[str]) -> int:
    names = RINGS.get(" ".join(arguments)) or arguments or [*CHECKS]
    unknown = sorted(set(names) - set(CHECKS))
    if unknown:
        print(f"unknown check: {', '.join(unknown)}; known: {', '.join(CHECKS)}")
        return 2
    failed = [name for name in names if not _passes(name)]
    if failed:
        print(f"\n{len(failed)} of {len(names)} checks failed. Rerun alone: ./dev check {' '.join(failed)}")
    return 1 if failed else 0


def _passes(name: str) -> bool:
    print(f"check {name} … ", end="", flush=True)
    started = time.monotonic()
    run = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"{'ok' if run.returncode == 0 else 'FAILED'} ({time.monotonic() - started:.1f} s)", flush=True)
    if run.stdout.startswith(LEFT_OUT):
        print(f"  {run.stdout.strip()}")
    if run.returncode != 0:
        print(run.stdout + run.stderr)
    return run.returncode == 0


if __name__ == "__main__":
    with ending_all():
        sys.exit(main(sys.argv[1:]))
