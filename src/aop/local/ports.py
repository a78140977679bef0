"""Where a local platform listens: ports, each its default or the next free one, chosen once per data folder, and unix
sockets in that folder."""

import errno
import os
import secrets
import socket
from collections.abc import Collection, Sequence
from itertools import count, islice
from pathlib import Path

import msgspec

from aop.local.port_holder import port_holder
from aop.local.problems import PortTaken
from aop.local.state import DataFolder
from aop.net.address_settings import ListenAddress, socket_path
from aop.net.sockets import listening_path, listening_socket

DEVELOPMENT_PORTS = range(8099, 8120)
"""Where `aop init` places new Agents; never given to a part of the platform."""

_DOOR = 8083
_FILE = "ports.json"
_HOST = "127.0.0.1"
_LAST = 65535
# Below those that systems by default give to outgoing connections, and above most that are known by number.
_QUIET_PORTS = range(20_000, 32_000)
_TRIES = 1_000
_places = count(secrets.randbelow(len(_QUIET_PORTS)))


class Ports(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gateway: int = 8080
    router: int = 8081
    console: int = 8082
    agents: tuple[int, int, int] = (8091, 8092, 8093)
    door: int = 0
    """0 where ports were chosen before there was a door; `Listeners.with_door` then chooses one."""

    @property
    def taken(self) -> frozenset[int]:
        return frozenset({self.gateway, self.router, self.console, *self.agents, self.door, *DEVELOPMENT_PORTS})


def stored_ports(folder: DataFolder) -> Ports | None:
    return folder.load(_FILE, Ports, "delete it to have ports chosen again")


def store_ports(folder: DataFolder, ports: Ports) -> None:
    folder.write(_FILE, msgspec.json.encode(ports) + b"\n")


class Listeners:
    """The listening sockets of one platform, made before anything starts and handed to the units.

    They stay open while a unit is down, so no other program can take its port or answer there.
    """

    def __init__(self) -> None:
        self._sockets: dict[ListenAddress, socket.socket] = {}
        self._by_path: dict[str, socket.socket] = {}

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, *_: object) -> None:
        self._keep(())
        for sock in self._by_path.values():
            sock.close()

    def choose(self) -> Ports:
        """Listens on each port at once: of two that choose at the same time, one gets the next port."""
        defaults, kept = Ports(), DEVELOPMENT_PORTS
        gateway, router, console = (
            self._next_free(port, kept) for port in (defaults.gateway, defaults.router, defaults.console)
        )
        first, second, third = (self._next_free(port, kept) for port in defaults.agents)
        return self.with_door(Ports(gateway, router, console, (first, second, third)))

    def with_door(self, ports: Ports) -> Ports:
        return ports if ports.door else msgspec.structs.replace(ports, door=self._next_free(_DOOR, ports.taken))

    def _next_free(self, default: int, kept: Collection[int]) -> int:
        for number in range(default, _LAST + 1):
            if number not in kept and self._opened(ListenAddress(_HOST, number)) is None:
                return number
        raise PortTaken(f"no port from {default} upwards is free on {_HOST}")

    def open(self, users: Sequence[tuple[ListenAddress, str]], folder: DataFolder) -> None:
        """These and no others: no unit would answer there. A user is the setting that moves the address, or what is to
        listen there."""
        first: dict[ListenAddress, str] = {}
        for address, user in users:
            if first.setdefault(address, user) != user:
                raise PortTaken(f"{address.host}:{address.port} is wanted by {first[address]} and {user}")
            self._open(address, user, folder)
        self._keep(first)

    def of(self, address: ListenAddress) -> socket.socket:
        return self._sockets[address]

    def on_path(self, setting: str | None) -> Sequence[socket.socket]:
        """The unix socket that a setting names; nothing where there is none."""
        if setting is None:
            return ()
        path = socket_path(setting)
        if path not in self._by_path:
            try:
                Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._by_path[path] = listening_path(path)
            except OSError as obstacle:
                raise PortTaken(f"{path} cannot be listened on: {os.strerror(obstacle.errno or 0)}") from None
        return (self._by_path[path],)

    def _open(self, address: ListenAddress, user: str, folder: DataFolder) -> None:
        obstacle = None if address in self._sockets else self._opened(address)
        if obstacle is None:
            return
        place = f"{address.host}:{address.port} ({user})"
        if obstacle.errno != errno.EADDRINUSE:
            raise PortTaken(f"{place} cannot be listened on: {os.strerror(obstacle.errno or 0)}")
        holder = port_holder(address.port) or "another program"
        move = f" set {user} to another address," if user.startswith("PLATFORM_") else ""
        raise PortTaken(
            f"{place} is in use by {holder}. Stop that program,{move}"
            f" or delete {folder.path / _FILE} to have ports chosen again"
        )

    def _keep(self, used: Collection[ListenAddress]) -> None:
        for address in self._sockets.keys() - set(used):
            self._sockets.pop(address).close()

    def _opened(self, address: ListenAddress) -> OSError | None:
        """Closing connections of an earlier run do not matter; another listener does."""
        try:
            self._sockets[address] = listening_socket(address.host, address.port)
        except OSError as obstacle:
            return obstacle
        return None


def is_free(address: ListenAddress) -> bool:
    return _obstacle(address) is None


def is_taken(address: ListenAddress) -> bool:
    """By another listener. An address that this machine does not have is not taken."""
    obstacle = _obstacle(address)
    return obstacle is not None and obstacle.errno == errno.EADDRINUSE


def _obstacle(address: ListenAddress) -> OSError | None:
    try:
        listening_socket(address.host, address.port).close()
    except OSError as obstacle:
        return obstacle
    return None


def any_free_port() -> int:
    """A port that stays free until it is used, although others open connections in between.

    A process takes them in turn from a random place: one that asks for several before it listens on the first gets
    different ones, and two that ask at the same time hardly ever meet.
    """
    for place in islice(_places, _TRIES):
        port = _QUIET_PORTS[place % len(_QUIET_PORTS)]
        if is_free(ListenAddress(_HOST, port)):
            return port
    raise PortTaken(f"of {_TRIES} ports tried from {_QUIET_PORTS.start} to {_QUIET_PORTS.stop - 1} none is free")
