"""The highest version in a range, as one reads it in a list: what the walk through the Catalog is compared with."""

from collections.abc import Iterable

from aop.base.semver import Version
from aop.base.semver_range import Range


def highest(versions: Iterable[Version], within: Range) -> Version | None:
    """Among versions of one precedence the bytewise greater text."""
    return max((version for version in versions if within.permits(version)), key=lambda one: one.rank, default=None)
