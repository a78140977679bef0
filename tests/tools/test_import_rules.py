"""The import rules of pyproject.toml: a circle between two parts of a package is refused, however it is closed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.environments import ROOT, child_environment

pytestmark = pytest.mark.second_ring

RULE = "No two parts of a package import each other"
TYPES_ALONE = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from aop.store import planted\n"
CIRCLES: dict[str, dict[str, str]] = {
    "two modules": {
        "base/planted.py": "from aop.base import planted_too\n",
        "base/planted_too.py": "import aop.base.planted\n",
    },
    "two packages": {
        "net/policy/planted.py": "from aop.net.server import planted\n",
        "net/server/planted.py": "from aop.net.policy import planted\n",
    },
    "types alone": {
        "store/planted.py": "from aop.store import planted_too\n",
        "store/planted_too.py": TYPES_ALONE,
    },
}


@pytest.mark.parametrize("name", CIRCLES)
def test_a_planted_circle_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in CIRCLES[name].items():
        (tmp_path / "src" / "aop" / path).write_text(text)
    assert broken_rules(tmp_path) == [RULE]


def test_the_product_as_it_is_breaks_no_rule(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src")
    assert broken_rules(tmp_path) == []


def broken_rules(folder: Path) -> list[str]:
    shutil.copy(ROOT / "pyproject.toml", folder)
    run = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo"],
        cwd=folder,
        env={**child_environment(), "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    rules = [line.removesuffix(" BROKEN") for line in run.stdout.splitlines() if line.endswith(" BROKEN")]
    assert run.returncode == (1 if rules else 0), run.stdout + run.stderr
    return rules
