"""A balancer of this machine, run with the file of deploy/ in which only names, ports and paths are changed."""

import asyncio
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aop.local.ports import any_free_port
from tests.support.authority import Authority
from tests.support.replicas import Replica
from tests.support.waiting import becomes_true

DEPLOY = Path(__file__).parents[2] / "deploy"
_HERE = "127.0.0.1"
_NOWHERE = 9
"""Console and door do not run here; nothing listens on this port."""


@dataclass
class Ports:
    """Where the balancer listens: for callers and Routers, for Control Planes, and with TLS for the world."""

    control_planes: int = field(default_factory=any_free_port)
    routers: int = field(default_factory=any_free_port)
    world: int = field(default_factory=any_free_port)
    admin: int = field(default_factory=any_free_port)


class Balancer:
    """One program. `takes_out` says whether it must be told of a unit that is going to end."""

    name = ""
    takes_out = False

    def __init__(self, folder: Path, ports: Ports) -> None:
        self.folder = folder
        self.ports = ports
        self.places: Mapping[str, int] = {}
        self._process: asyncio.subprocess.Process | None = None

    @classmethod
    def is_here(cls) -> bool:
        return shutil.which(cls.name) is not None

    def text(self, out: Sequence[str] = ()) -> str:
        """Its file, with these units taken out."""
        raise NotImplementedError

    def command(self, path: Path) -> Sequence[str]:
        raise NotImplementedError

    def reload(self) -> None:
        """Only where units are taken out by the file."""

    async def start(self, control_planes: Sequence[Replica], routers: Sequence[Replica]) -> None:
        units = {"control-plane": control_planes, "router": routers}
        self.places = {
            f"{kind}-{number}": unit.unit.port
            for kind, all_of in units.items()
            for number, unit in enumerate(all_of, 1)
        }
        self.folder.mkdir(exist_ok=True)
        Authority(self.folder).server_context("gateway.example.com")
        self._write()
        with (self.folder / "balancer.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(self.folder / "balancer.conf"), stdout=log, stderr=log, cwd=self.folder
            )
        await becomes_true(self._listens)

    async def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.returncode is None, (self.folder / "balancer.log").read_text()
        try:
            _, writer = await asyncio.open_connection(_HERE, self.ports.routers)
        except OSError:
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            await self._process.wait()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def take_out(self, unit: str) -> None:
        if self.takes_out:
            await self._reloaded([unit])

    async def put_back(self) -> None:
        """Returns when it sends to all units again."""
        assert self._process is not None
        assert self._process.returncode is None, (self.folder / "balancer.log").read_text()
        if self.takes_out:
            await self._reloaded([])
        await becomes_true(self._sends_to_all)

    async def _sends_to_all(self) -> bool:
        return True

    def _write(self, out: Sequence[str] = ()) -> None:
        (self.folder / "balancer.conf").write_text(self.text(out))

    async def _reloaded(self, out: Sequence[str]) -> None:
        before = self._children()
        self._write(out)
        self.reload()

        async def began_anew() -> bool:
            return bool(self._children() - before)

        await becomes_true(began_anew)
        # Workers of before accept nothing more; a moment for what they had accepted already.
        await asyncio.sleep(1)

    def _children(self) -> set[str]:
        return set(Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())

    def _named(self, text: str, separator: str) -> str:
        """With the units of here instead of the names of compose.yaml."""
        for name, port in self.places.items():
            text = re.sub(rf"{name}{separator}80\d\d", f"{_HERE}{separator}{port}", text)
        return re.sub(rf"\b(console|door){separator}808\d", f"{_HERE}{separator}{_NOWHERE}", text)


class Nginx(Balancer):
    name = "nginx"
    takes_out = True

    def text(self, out: Sequence[str] = ()) -> str:
        shipped = (DEPLOY / "balancer.conf").read_text()
        for unit in out:
            shipped = re.sub(rf"(server {unit}:\d+) [^;]*;", r"\1 down;", shipped)
        shipped = self._named(shipped, ":")
        listeners = {"9080": self.ports.control_planes, "9081": self.ports.routers, "443": self.ports.world}
        for old, new in listeners.items():
            shipped = shipped.replace(f"listen {old}", f"listen {_HERE}:{new}")
        shipped = re.sub(r"/etc/nginx/tls/tls\.\w+", str(self.folder / "server.pem"), shipped)
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return (
            f"user root; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error.log;\n"
            f"events {{ worker_connections 2048; }}\nhttp {{ access_log off;\n{temporary}{shipped}\n}}\n"
        )

    def command(self, path: Path) -> Sequence[str]:
        return (
            "nginx",
            "-p",
            str(self.folder),
            "-c",
            str(path),
            "-e",
            str(self.folder / "error.log"),
            "-g",
            "daemon off;",
        )

    def reload(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)


class HAProxy(Balancer):
    name = "haproxy"

    def text(self, out: Sequence[str] = ()) -> str:
        shipped = self._named((DEPLOY / "haproxy.cfg").read_text(), ":")
        listeners = {":9080": self.ports.control_planes, ":9081": self.ports.routers, ":443": self.ports.world}
        for old, new in listeners.items():
            shipped = shipped.replace(f"bind {old}", f"bind {_HERE}:{new}")
        shipped = shipped.replace("/etc/haproxy/tls.pem", str(self.folder / "server.pem"))
        return f"{shipped}\nfrontend figures\n    bind {_HERE}:{self.ports.admin}\n    stats enable\n    stats uri /\n"

    def command(self, path: Path) -> Sequence[str]:
        return ("haproxy", "-db", "-f", str(path))

    async def _sends_to_all(self) -> bool:
        rows = (await _fetched(self.ports.admin, "/;csv")).splitlines()
        states = {
            row.split(",")[1]: row.split(",")[17] for row in rows if row.startswith(("control_planes,", "routers,"))
        }
        return all(states.get(name) == "UP" for name in self.places)


class Envoy(Balancer):
    name = "envoy"

    def text(self, out: Sequence[str] = ()) -> str:
        shipped = self._named((DEPLOY / "envoy.yaml").read_text(), ", port_value: ")
        listeners = {9080: self.ports.control_planes, 9081: self.ports.routers, 443: self.ports.world}
        for old, new in listeners.items():
            shipped = shipped.replace(
                f"address: 0.0.0.0, port_value: {old}}}", f"address: {_HERE}, port_value: {new}}}"
            )
        shipped = shipped.replace("port_value: 9901}", f"port_value: {self.ports.admin}}}")
        return re.sub(r"/etc/envoy/tls/tls\.\w+", str(self.folder / "server.pem"), shipped)

    def command(self, path: Path) -> Sequence[str]:
        options = ("--disable-hot-restart", "--concurrency", "2", "--log-level", "warning")
        return ("envoy", "-c", str(path.rename(path.with_suffix(".yaml"))), *options)

    async def _sends_to_all(self) -> bool:
        rows = (await _fetched(self.ports.admin, "/clusters")).splitlines()
        healthy = {row.split("::")[1] for row in rows if row.endswith("::health_flags::healthy")}
        return all(f"{_HERE}:{port}" in healthy for port in self.places.values())


KINDS: Sequence[type[Balancer]] = (HAProxy, Nginx, Envoy)


async def _fetched(port: int, path: str) -> str:
    try:
        reader, writer = await asyncio.open_connection(_HERE, port)
    except OSError:
        return ""
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {_HERE}\r\nConnection: close\r\n\r\n".encode())
        return (await reader.read()).decode()
    finally:
        writer.close()
