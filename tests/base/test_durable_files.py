"""A file that is put in its place: the folder, which has the name, is synced behind it."""

import io
import os
from pathlib import Path

import pytest

from aop.base.durable_files import put_in_place
from aop.cli.operator import ledger_checkpoints, ledger_tree
from aop.cli.shell import card_version
from aop.cli.shell.output import Output
from aop.local.postgres.account import find_account
from aop.local.postgres.binaries import Binaries
from aop.local.postgres.cluster import Cluster
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


def test_whatever_is_to_last_is_synced_with_its_name(tmp_path: Path, synced: list[Path]) -> None:
    """A Card with its new version, a watcher's key and heads."""
    card_version._write(tmp_path / "card.json", b"{}")
    ledger_checkpoints.watch_key(Output(out=io.StringIO()), tmp_path / "key", "watch.example.com")
    ledger_tree._append(tmp_path / "heads.txt", "head\n")
    assert [path == tmp_path for path in synced] == [False, True] * 3


async def test_the_password_of_a_database_is_on_the_disk_before_the_database_counts_as_made(
    tmp_path: Path, synced: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None: ...

    cluster = Cluster(tmp_path, find_account())
    monkeypatch.setattr(cluster, "_run", nothing)
    await cluster.make(Binaries(tmp_path, 16), durable=False)
    names = [path.name for path in synced]
    assert names == [".superuser.new", tmp_path.name, ".made.new", tmp_path.name]
