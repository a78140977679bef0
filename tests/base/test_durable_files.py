"""A file that is put in its place: the folder, which has the name, is synced behind it."""

import os
from pathlib import Path

import pytest

from aop.base.durable_files import put_in_place
from aop.local.state import DataFolder


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What was synced to the disk, in its order."""
    found, sync = list[Path](), os.fsync

    def noted(descriptor: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return found


def test_the_folder_of_a_file_is_synced_once_the_file_has_its_name(tmp_path: Path, synced: list[Path]) -> None:
    written, place = tmp_path / "month.part", tmp_path / "month"
    written.write_bytes(b"rows")
    put_in_place(written, place)
    assert (place.read_bytes(), written.exists(), synced) == (b"rows", False, [tmp_path])


def test_files_of_a_data_folder_are_synced_with_their_names(tmp_path: Path, synced: list[Path]) -> None:
    with DataFolder(tmp_path) as folder:
        folder.write("ports.json", b"{}")
    assert [path.name for path in synced] == [".ports.json.new", tmp_path.name]
