"""Who may import whom in the Console: the linter refuses what goes up, or across from one feature to another."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.console_build import CONSOLE, ready_node

REFUSED = (
    ("config", "@/api/http"),
    ("config", "@/features/one/page"),
    ("api", "@/components/Field"),
    ("api", "@/domain/StateBadge"),
    ("api", "@/features/one/page"),
    ("components", "@/app/routes"),
    ("components", "@/domain/StateBadge"),
    ("components", "@/features/one/page"),
    ("domain", "@/app/routes"),
    ("domain", "@/features/one/page"),
    ("features/one", "@/app/routes"),
    ("features/one", "@/features/two/page"),
    ("features/one", "@/features/two/parts/page"),
    ("features/one", "../two/page"),
)
ALLOWED = (
    ("api", "@/config/runtime"),
    ("components", "@/api/http"),
    ("domain", "@/components/Field"),
    ("features/one", "@/features/one/parts/page"),
    ("features/one", "@/domain/StateBadge"),
    ("features/one", "@/components/Field"),
    ("features/one", "./parts/page"),
    ("app", "@/features/one/page"),
)


def test_the_linter_refuses_exactly_the_imports_that_leave_their_layer(tmp_path: Path) -> None:
    node = ready_node(print)
    shutil.copy(CONSOLE / "oxlint.config.js", tmp_path)
    (tmp_path / "node_modules").symlink_to(CONSOLE / "node_modules")
    (tmp_path / "src" / "features" / "two").mkdir(parents=True)
    files = {pair: tmp_path / "src" / pair[0] / f"import{at}.ts" for at, pair in enumerate(REFUSED + ALLOWED)}
    for (_, imported), file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'import {{ some }} from "{imported}"\nexport const other = String(some)\n')
    told = _linted(node.node, tmp_path)
    assert [pair for pair, file in files.items() if file.name in told] == list(REFUSED)


def _linted(node: str, folder: Path) -> str:
    """What is said of imports, one line for each."""
    command: Sequence[str] = (node, "node_modules/oxlint/bin/oxlint", "-c", "oxlint.config.js", "--format", "unix")
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return "\n".join(line for line in ran.stdout.splitlines() if "no-restricted-imports" in line)
