"""The cluster: three nodes, each a volume, a member of etcd, a Patroni and the PostgreSQL that it runs."""

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from aop.local.postgres import EmbeddedPostgres
from aop.local.postgres.account import NOBODY, Account
from aop.local.postgres.binaries import find_binaries
from proof.ha.networks import Network, NotPossible, networks
from tests.support.stalls import signal_all
from tests.support.waiting import becomes_true

DEPLOY = Path(__file__).parents[2] / "deploy" / "patroni"
PROGRAMS = ("patroni", "etcd", "ip", "setpriv", "mount")
_VOLUME = "1g"
"""Fifty rounds keep more of the log for standbys that are away than a third of it holds."""
_PASSWORD = "proof-password"
_ASK_SECONDS = 2


@dataclass
class Node:
    """`etcd` and `patroni` are its processes; PostgreSQL is a child of the second."""

    name: str
    network: Network
    folder: Path
    etcd: asyncio.subprocess.Process | None = None
    patroni: asyncio.subprocess.Process | None = None

    @property
    def data(self) -> Path:
        return self.folder / "volume" / "data"

    def database_processes(self) -> list[int]:
        """The server and its children, and before them Patroni, which would start it again."""
        assert self.patroni is not None
        found = [self.patroni.pid]
        with suppress(OSError):
            server = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
            found += [server, *map(int, children)]
        return found

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not one more byte fits on its volume."""
        ballast = self.folder / "volume" / "ballast"
        try:
            with ballast.open("wb", buffering=0) as filling, suppress(OSError):
                while True:
                    filling.write(bytes(4096))
            yield
        finally:
            ballast.unlink()


class ClusterServer(EmbeddedPostgres):
    """What tests know as their server: the nodes under one URL. Nothing is started here."""

    def __init__(self, hosts: str) -> None:
        self._hosts = hosts

    def url(self, *, database: str, user: str = "postgres", password: str | None = None) -> str:
        return f"postgresql://{user}:{password or _PASSWORD}@{self._hosts}/{database}?target_session_attrs=read-write"


@dataclass
class Cluster:
    nodes: Sequence[Node]
    programs: Mapping[str, str]
    binaries: Path
    started: list[asyncio.subprocess.Process] = field(default_factory=list)

    @property
    def hosts(self) -> str:
        return ",".join(f"{node.network.address}:5432" for node in self.nodes)

    async def start_etcd(self, node: Node) -> None:
        node.etcd = await self._started(
            node, "etcd", self.programs["etcd"], "--config-file", str(node.folder / "etcd.yaml")
        )

    async def start_patroni(self, node: Node) -> None:
        node.patroni = await self._started(node, "patroni", self.programs["patroni"], str(node.folder / "patroni.yaml"))

    async def members(self) -> Mapping[str, Mapping[str, Any]]:
        """As any Patroni that answers sees them."""
        for node in self.nodes:
            document = await _fetched(f"http://{node.network.address}:8008/cluster")
            if document:
                return {member["name"]: member for member in document["members"]}
        return {}

    async def leader(self) -> Node | None:
        """The one that says itself that it is, now."""
        for node in self.nodes:
            document = await _fetched(f"http://{node.network.address}:8008/leader")
            if document.get("role") == "primary" and document.get("state") == "running":
                return node
        return None

    async def etcd_leader(self) -> Node:
        for node in self.nodes:
            status = await _fetched(f"http://{node.network.address}:2379/v2/stats/self")
            if status.get("state") == "StateLeader":
                return node
        raise LookupError("no member of etcd leads")

    async def is_whole(self) -> bool:
        """One leads, and the two others stream from it."""
        members = await self.members()
        states = [(member["role"], member["state"]) for member in members.values()]
        leads = sum(state == ("leader", "running") for state in states)
        follow = sum(role in {"quorum_standby", "sync_standby"} and state == "streaming" for role, state in states)
        return leads == 1 and follow == len(self.nodes) - 1 and await self.leader() is not None

    async def whole(self) -> None:
        await becomes_true(self.is_whole)

    async def _started(self, node: Node, name: str, *command: str) -> asyncio.subprocess.Process:
        account = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        with (node.folder / f"{name}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *node.network.inside(*account, *command),
                stdout=log,
                stderr=log,
                cwd=node.folder,
                env={"PATH": os.defpath, "LC_ALL": "C", "HOME": str(node.folder)},
                start_new_session=True,
            )
        self.started.append(process)
        return process


@asynccontextmanager
async def cluster(place: Path) -> AsyncIterator[Cluster]:
    """Whole: one leader and two standbys of which each commit waits for one."""
    account = Account(user=NOBODY)
    binaries = find_binaries(None, None, account).directory
    programs = {name: shutil.which(name) or "" for name in PROGRAMS}
    if not account.can(programs["patroni"], "--version"):
        raise NotPossible("Patroni lies where `nobody` cannot run it")
    async with networks(3) as joined:
        nodes = [Node(f"db-{number}", network, place / f"db-{number}") for number, network in enumerate(joined, 1)]
        made = Cluster(nodes, programs, binaries)
        try:
            for node in nodes:
                await _prepare(node, made)
            await asyncio.gather(*(made.start_etcd(node) for node in nodes))
            await asyncio.gather(*(made.start_patroni(node) for node in nodes))
            await made.whole()
            yield made
        finally:
            await _end(made)


async def _end(made: Cluster) -> None:
    for node in made.nodes:
        if node.patroni is not None:
            signal_all(signal.SIGCONT, *node.database_processes())
            signal_all(signal.SIGKILL, *node.database_processes())
    for process in made.started:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    for node in made.nodes:
        await _run("umount", "--lazy", str(node.folder / "volume"))


async def _prepare(node: Node, made: Cluster) -> None:
    """The shipped files, with the names, paths and passwords of here."""
    volume = node.folder / "volume"
    volume.mkdir(parents=True)
    assert await _run("mount", "-t", "tmpfs", "-o", f"size={_VOLUME}", "tmpfs", str(volume)) == 0
    for name in ("patroni.yaml", "etcd.yaml"):
        text = (DEPLOY / name).read_text()
        text = re.sub(r"^name: db-1", f"name: {node.name}", text, flags=re.MULTILINE)
        text = re.sub(r"((?:advertise|connect_address)\S*:? ?(?:http://)?)db-1", rf"\g<1>{node.name}", text)
        text = text.replace("0.0.0.0", node.network.address)  # noqa: S104
        for other in made.nodes:
            text = re.sub(rf"{other.name}:(\d)", rf"{other.network.address}:\1", text)
            text = text.replace(f"http://{other.name}:", f"http://{other.network.address}:")
        for old in ("choose-one", "choose-another", "and-a-third"):
            text = text.replace(old, _PASSWORD)
        text = text.replace("/var/lib/postgresql/aop", str(node.data)).replace(
            "/var/lib/etcd", str(node.folder / "etcd")
        )
        text = text.replace("/usr/lib/postgresql/16/bin", str(made.binaries)).replace("mode: automatic", "mode: 'off'")
        text = text.replace("        max_connections: 200\n", "        max_connections: 200\n" + _SMALL)
        # The networks are apart, but the folders of their sockets are not.
        sockets = f"  parameters:\n    unix_socket_directories: {node.folder}\n  authentication:\n"
        text = text.replace("  authentication:\n", sockets)
        if name == "etcd.yaml":
            text += "enable-v2: true\nheartbeat-interval: 200\nelection-timeout: 2000\n"
        (node.folder / name).write_text(text)
    for path in (node.folder, volume, *node.folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    for above in node.folder.parents:
        if above.stat().st_uid == os.geteuid() and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)


# A volume of memory holds little, and a test needs the moment at which a row was committed.
_SMALL = """        track_commit_timestamp: "on"
        fsync: "off"
        shared_buffers: 32MB
        min_wal_size: 32MB
        max_wal_size: 64MB
"""


async def _run(*command: str) -> int:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait()


async def _fetched(url: str) -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        try:
            with urlopen(url, timeout=_ASK_SECONDS) as answer:  # noqa: S310
                return dict(json.load(answer))
        except HTTPError:
            return {}
        except (OSError, ValueError):
            return {}

    return await asyncio.to_thread(ask)
