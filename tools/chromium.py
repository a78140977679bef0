"""Finds the browser of the Console's tests; installs it where that takes no decision of a person."""

import os
import shutil
from pathlib import Path

from tools.environments import Say, SetupFailed, SetupProgress, child_environment

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")


def find_chromium() -> str | None:
    return next((found for name in _NAMES if (found := shutil.which(name)) is not None), None)


def ready_chromium(say: Say) -> None:
    """Never a silent skip: without a browser the command fails and says what to do."""
    if find_chromium() is not None:
        return
    reason = ""
    if os.geteuid() == 0 and Path("/etc/debian_version").exists():
        progress = SetupProgress.of(say)
        progress("installing Chromium for the Console's tests with apt (first time, ~60 s)")
        try:
            for command in (("apt-get", "update", "-qq"), _INSTALL):
                progress.run("Chromium", command, child_environment())
        except SetupFailed as failed:
            reason = f"{failed}\n"
        if find_chromium() is not None:
            return
    raise SetupFailed(
        f"{reason}the Console's tests need Chromium: install it (on Debian: sudo {' '.join(_INSTALL)}), then repeat"
    )
