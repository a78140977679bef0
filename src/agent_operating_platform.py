"""Starts the aop command, unless another package named aop stands in the place of ours.

The package index has such a package. It installs an `aop/__init__.py` over the one of this distribution. So the check
is in a module outside of `aop`, which the other package cannot replace, and runs before anything of `aop` is loaded.
"""

import os
import re
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

_METADATA = re.compile(r"aop-(?P<version>[^-]+?)(-py[\d.]+)?\.(dist|egg)-info")
_FIRST_WORDS = '"""Agent Operating Platform'


def main() -> int:
    problem = foreign_package(sys.path)
    if problem is not None:
        sys.stderr.write(f"aop: {problem}\n")
        return os.EX_CONFIG
    from aop.cli.main import main as command  # noqa: PLC0415  not before the check

    return command()


def foreign_package(path: Sequence[str]) -> str | None:
    """What to tell about another `aop` on that path; None when ours is the only one."""
    version = next((found for folder in path if (found := _installed_version(folder)) is not None), None)
    if version is not None:
        return (
            f"the package aop {version} is installed here too and overwrites files of agent-operating-platform;"
            " uninstall both, then install agent-operating-platform again"
        )
    spec = PathFinder.find_spec("aop", list(path))
    if spec is not None and not _is_ours(spec.origin):
        return (
            f"{spec.origin or 'a folder named aop'} is another module named aop and hides that of"
            " agent-operating-platform; remove or rename it, or start from another folder"
        )
    return None


def _installed_version(folder: str) -> str | None:
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:  # no folder, or one that is not ours to read
        return None
    return next((found["version"] for name in names if (found := _METADATA.fullmatch(name)) is not None), None)


def _is_ours(file: str | None) -> bool:
    try:
        return file is not None and Path(file).read_text("utf-8").startswith(_FIRST_WORDS)
    except (OSError, UnicodeDecodeError):
        return False


if __name__ == "__main__":
    sys.exit(main())
