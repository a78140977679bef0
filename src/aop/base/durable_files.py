"""Files that are there whole or not at all, and keep content and name after a power cut."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes, mode: int = 0o666) -> None:
    """In place of what is there. The mode is that of a new file, less the umask."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    put_in_place(unfinished, path)


def put_in_place(written: Path, place: Path) -> None:
    """A file whose content is on the disk already. The folder is synced too: the name is in the folder alone."""
    written.replace(place)
    sync_folder(place.parent)


def sync_folder(path: Path) -> None:
    """Behind the making of a file in it."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
