"""`aop up` without the sample Agents, on its own database or another one."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from tests.support.platform import LocalPlatform, started_up

EXTERNAL = ("PLATFORM_DATABASE_URL", "PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_MIGRATION_DATABASE_URL")


def started_units(
    data: Path, *options: str, settings: Mapping[str, str] | None = None
) -> AbstractContextManager[LocalPlatform]:
    """Without the sample Agents, which have tests of their own."""
    return started_up(data, "--no-agents", *options, settings=settings)
