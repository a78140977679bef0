"""Who listens on a port of this machine, where the system lets us read it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_LISTENS = "0A"


def port_holder(port: int) -> str | None:
    """For people, like `process 4711 (python)`. None where no process listens, or one of another user."""
    sockets = set(_listening(port))
    if not sockets:
        return None
    for process in _PROC.glob("[0-9]*"):
        if any(link in sockets for link in _links(process / "fd")):
            name = ""
            with suppress(OSError):
                name = f" ({(process / 'comm').read_text('utf-8', 'replace').strip()})"
            return f"process {process.name}{name}"
    return None


def _listening(port: int) -> Iterator[str]:
    """The sockets as a process names them. Its arguments are not read: they may hold a secret."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text("ascii").splitlines()[1:]:
                _, local, _, state, *rest = line.split()
                if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                    yield f"socket:[{rest[5]}]"


def _links(folder: Path) -> Iterator[str]:
    with suppress(OSError):
        for descriptor in os.listdir(folder):
            with suppress(OSError):
                yield os.readlink(folder / descriptor)
