"""The distribution this package is installed from: its name, and the line that adds an extra."""

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from aop import __version__

NAME = "agent-operating-platform"
"""Not `aop`, which is a package of somebody else on the index."""

NOT_ON_PYPI = "the package is not on PyPI: `./dev wheel` in a clone of the project builds this file"
"""For every message that says to install it, where the file is not known."""

_WHEEL = f"file:///PATH/agent_operating_platform-{__version__}-py3-none-any.whl"
_INSTALLERS = {"uv-receipt.toml": "uv tool install --force", "pipx_metadata.json": "pipx install --force"}
"""What an installer of commands leaves in the environment it makes, and how it is called."""
_INDEX = "index"


def install_line(extra: str) -> str:
    """What to type for this version with that extra, from where it was installed, as far as that is known."""
    source = _source()
    wanted = pinned(extra) if source == _INDEX else f"{NAME}[{extra}] @ {source or _WHEEL}"
    said = "" if source else f" ({NOT_ON_PYPI})"
    return f"{_installer()} {shlex.quote(wanted)}{said}"


def pinned(extra: str) -> str:
    return f"{NAME}[{extra}]=={__version__}"


def _installer() -> str:
    return next((line for mark, line in _INSTALLERS.items() if Path(sys.prefix, mark).is_file()), "pip install")


def _source() -> str | None:
    """The address of the wheel file it was installed from, while that file is there; or the index, which an installer
    does not note. None for a checkout, and for a file that is gone."""
    from importlib import metadata  # noqa: PLC0415  slow to load, and only needed when something is missing

    try:
        noted = metadata.distribution(NAME).read_text("direct_url.json")
        if not noted:
            return _INDEX
        address = str(json.loads(noted)["url"])
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return None
    parts = urlsplit(address)
    is_here = parts.scheme == "file" and parts.path.endswith(".whl") and Path(unquote(parts.path)).is_file()
    return address if is_here else None
