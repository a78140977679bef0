"""Small volumes of memory, which can be filled to their last byte. Not every machine lets a test mount one."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def mount(place: Path, size: str) -> bool:
    """Makes the folder, and a volume of that size on it; False where mounting is not allowed."""
    place.mkdir()
    place.chmod(0o755)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(place)]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def unmount(place: Path) -> None:
    command = ["umount", "--lazy", str(place)]
    subprocess.run(command, check=False)


@contextmanager
def volume(place: Path, size: str) -> Iterator[Path]:
    """For one test, which is skipped where there can be none."""
    if not mount(place, size):
        pytest.skip("volumes cannot be mounted here")
    try:
        yield place
    finally:
        unmount(place)


@contextmanager
def filled(place: Path) -> Iterator[int]:
    """Not one more byte fits; gives how many were put there."""
    ballast = place / "ballast"
    size = 0
    try:
        with ballast.open("wb", buffering=0) as filling, suppress(OSError):
            while True:
                size += filling.write(bytes(4096))
        yield size
    finally:
        ballast.unlink()
