"""Puts the built Console into the wheel when there is one; a wheel without it serves everything else."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleInWheel(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        built = Path(self.root, "console", "dist")
        if (built / "index.html").is_file():
            build_data["force_include"][str(built)] = "aop/assets/console"
