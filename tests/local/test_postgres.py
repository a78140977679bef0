"""The embedded PostgreSQL: starts as any user, keeps its data, stops with its owner."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from aop.local.postgres import EmbeddedPostgres, Login, binaries
from aop.local.postgres.account import NOBODY, Account, find_account
from aop.local.postgres.binaries import find_binaries
from aop.local.postgres.cluster import Cluster
from aop.local.problems import PostgresUnusable
from tests.support.processes import is_alive, require_none_left

pytestmark = pytest.mark.second_ring

FAST = {"fsync": "off"}
REFUSING_SERVER = """\
#!/bin/sh
[ "$1" = --version ] && echo "postgres (PostgreSQL) 18.1" && exit 0
echo "FATAL: the disk is made of cheese"
exit 1
"""
EMPTY_INITDB = """\
#!/bin/sh
for argument; do case "$argument" in --pgdata=*) folder=${argument#--pgdata=};; esac; done
mkdir -p "$folder" && echo 18 > "$folder/PG_VERSION"
"""


def embedded(folder: Path, **options: Any) -> EmbeddedPostgres:
    return EmbeddedPostgres(folder / "postgres", folder / "postgres.log", settings=FAST, **options)


async def answer(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_a_database_made_once_is_found_again_by_the_next_start(tmp_path: Path) -> None:
    login = Login("writer", "it's a 'secret'", ["owners"])
    async with embedded(tmp_path) as first:
        await first.create_database("kept", owner="owners", groups=["owners"], logins=[login])
        await answer(first.url(database="kept"), "CREATE TABLE public.fact AS SELECT 7 AS value")
    async with embedded(tmp_path) as second:
        await second.create_database("kept", owner="owners", groups=["owners"], logins=[login])
        assert await answer(second.url(database="kept"), "SELECT value FROM public.fact") == 7
        url = second.url(database="kept", user=login.name, password=login.password)
        assert await answer(url, "SELECT pg_has_role('owners', 'MEMBER')") is True


async def test_the_server_is_private_to_this_machine_and_durable_by_default(tmp_path: Path) -> None:
    async with EmbeddedPostgres(tmp_path / "postgres", tmp_path / "log") as server:
        url = server.url(database="postgres")
        shown = {name: await answer(url, f"SHOW {name}") for name in ("listen_addresses", "fsync", "data_checksums")}
        assert shown == {"listen_addresses": "127.0.0.1", "fsync": "on", "data_checksums": "on"}
        with pytest.raises(asyncpg.InvalidPasswordError):
            await answer(server.url(database="postgres", password="wrong"), "SELECT 1")
    assert (tmp_path / "postgres").stat().st_mode & 0o077 == 0
    assert (tmp_path / "postgres" / "superuser").stat().st_mode & 0o777 == 0o600


async def test_it_is_reached_by_its_unix_socket_or_by_its_port_where_the_path_is_too_long(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as short:
        (tmp_path / ("d" * 80)).mkdir()
        for folder, by_socket in ((Path(short), True), (tmp_path / ("d" * 80), False)):
            async with embedded(folder) as server:
                found = await answer(server.near_url(database="postgres"), "SELECT inet_server_port()")
                assert found == (None if by_socket else server.port)


async def test_no_statement_or_parameter_reaches_the_log(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server:
        for query in ("SELECT 'canary'::integer", "SELECT canary", "SELECT 1/0 AS canary"):
            with pytest.raises(asyncpg.PostgresError):
                await answer(server.url(database="postgres"), query)
    assert "STATEMENT" not in (tmp_path / "postgres.log").read_text()


async def test_a_lock_file_of_a_dead_server_is_no_obstacle_even_when_its_process_id_lives_again(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server:
        noted = (tmp_path / "postgres" / "cluster" / "postmaster.pid").read_text()
    reused = noted.replace(str(server.pid), str(os.getppid()), 1)
    (tmp_path / "postgres" / "cluster" / "postmaster.pid").write_text(reused)
    async with embedded(tmp_path) as again:
        assert await answer(again.url(database="postgres"), "SELECT 1") == 1


async def test_an_interrupted_first_start_is_begun_anew(tmp_path: Path) -> None:
    unfinished = tmp_path / "postgres" / "cluster"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    async with embedded(tmp_path) as server:
        assert await answer(server.url(database="postgres"), "SELECT 1") == 1


async def test_a_second_server_on_the_same_files_is_refused_by_name(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server:
        with pytest.raises(PostgresUnusable, match=f"process {server.pid}"):
            await Cluster.at(tmp_path / "postgres", find_account()).clear_traces(0.1)


def test_a_server_whose_owner_is_killed_stops_by_itself(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent("""
            import asyncio, sys
            from pathlib import Path
            from aop.local.postgres import EmbeddedPostgres

            async def main():
                folder = Path(sys.argv[1])
                async with EmbeddedPostgres(folder / "postgres", folder / "log", settings={"fsync": "off"}) as server:
                    print(server.pid, flush=True)
                    await asyncio.sleep(60)

            asyncio.run(main())
        """), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    with owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert is_alive(pid)
        owner.send_signal(signal.SIGKILL)
    require_none_left(str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
async def test_root_without_user_namespaces_runs_the_server_as_nobody(tmp_path: Path) -> None:
    shared = public_folder()
    try:
        account = Account(user=NOBODY, shared_place=shared)
        async with embedded(tmp_path, account=account) as server:
            assert owner_of(server.pid) == NOBODY
            assert await answer(server.url(database="postgres"), "SELECT 1") == 1
        async with embedded(tmp_path, account=account) as again:
            assert await answer(again.url(database="postgres"), "SELECT 1") == 1
    finally:
        shutil.rmtree(shared)


async def test_a_server_that_refuses_to_start_is_told_with_its_own_words(tmp_path: Path) -> None:
    programs = fake_programs(tmp_path, REFUSING_SERVER, EMPTY_INITDB)
    with pytest.raises(PostgresUnusable, match="made of cheese"):
        async with embedded(tmp_path, bin_directory=programs):
            pass


async def test_an_initdb_that_fails_is_told_with_its_own_words(tmp_path: Path) -> None:
    programs = fake_programs(tmp_path, REFUSING_SERVER, "#!/bin/sh\necho no room left; exit 1\n")
    with pytest.raises(PostgresUnusable, match="no room left"):
        await embedded(tmp_path, bin_directory=programs).prepare()


def test_a_cluster_of_another_version_names_the_version_and_the_setting() -> None:
    with pytest.raises(PostgresUnusable, match=r"PostgreSQL 9\b.*PLATFORM_PG_BIN"):
        find_binaries(None, 9, find_account())


def test_without_any_postgresql_the_extra_that_brings_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "_WHEEL", "a_package_that_is_not_installed")
    monkeypatch.setattr(binaries, "_MACHINE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PostgresUnusable, match=r"the extra local brings one: pip install \S*\[local\]"):
        find_binaries(None, None, find_account())


@pytest.mark.parametrize("version", ["14.2", "nonsense"])
def test_a_chosen_bin_directory_must_hold_a_postgresql_that_is_new_enough(tmp_path: Path, version: str) -> None:
    programs = fake_programs(tmp_path, REFUSING_SERVER.replace("18.1", version), EMPTY_INITDB)
    with pytest.raises(PostgresUnusable, match="PLATFORM_PG_BIN"):
        find_binaries(programs, None, find_account())


async def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    """At once, while the database is made, and as late as it takes a fast machine to start."""
    cancelled = []
    for number, seconds in enumerate((0.0, 0.1, 0.3)):
        task = asyncio.create_task(embedded(tmp_path / str(number)).__aenter__())
        await asyncio.sleep(seconds)
        cancelled.append(task.cancel())
        with suppress(asyncio.CancelledError):
            await (await task).stop()
        require_none_left(str(tmp_path))
    assert cancelled[0]


def public_folder() -> Path:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    return folder


def owner_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def fake_programs(folder: Path, postgres: str, initdb: str) -> Path:
    programs = folder / "bin"
    programs.mkdir()
    for name, text in (("postgres", postgres), ("initdb", initdb)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return programs


@pytest.mark.parametrize(("user", "mode"), [(None, 0o700), (os.geteuid(), 0o711)], ids=["this user", "another user"])
def test_others_may_pass_through_the_folder_only_when_the_server_is_another_user(
    tmp_path: Path, user: int | None, mode: int
) -> None:
    Cluster.at(tmp_path / "data" / "postgres", Account(user=user, shared_place=tmp_path / "shared"))
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == mode
