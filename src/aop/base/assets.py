"""Finds the non-Python files that travel with the package: contracts and migrations."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]


def folder(name: str) -> Path:
    """The packaged folder of that name, or the one at the top of a source checkout."""
    packaged = _PACKAGE / "assets" / name
    return packaged if packaged.is_dir() else _CHECKOUT / name
