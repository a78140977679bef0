"""The distribution this package is installed from: its name on a package index, and the line that adds an extra."""

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from aop import __version__

NAME = "agent-operating-platform"
"""Not `aop`, which is a package of somebody else on the index."""

_INSTALLERS = {"uv-receipt.toml": "uv tool install --force", "pipx_metadata.json": "pipx install --force"}
"""What an installer of commands leaves in the environment it makes, and how it is called."""


def install_line(extra: str) -> str:
    """What to type for this version with that extra, from where it was installed."""
    return f"{_installer()} {shlex.quote(_requirement(extra))}"


def pinned(extra: str) -> str:
    return f"{NAME}[{extra}]=={__version__}"


def _installer() -> str:
    return next((line for mark, line in _INSTALLERS.items() if Path(sys.prefix, mark).is_file()), "pip install")


def _requirement(extra: str) -> str:
    wheel = _wheel_address()
    return pinned(extra) if wheel is None else f"{NAME}[{extra}] @ {wheel}"


def _wheel_address() -> str | None:
    """The address of the wheel file it was installed from, while that file is there."""
    from importlib import metadata  # noqa: PLC0415  slow to load, and only needed when something is missing

    try:
        noted = metadata.distribution(NAME).read_text("direct_url.json")
        address = str(json.loads(noted)["url"]) if noted else ""
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return None
    parts = urlsplit(address)
    is_here = parts.scheme == "file" and parts.path.endswith(".whl") and Path(unquote(parts.path)).is_file()
    return address if is_here else None
