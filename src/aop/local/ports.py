"""The ports of a local platform: each its default or the next free one, chosen once per data folder."""

import errno
import random
import socket

import msgspec

from aop.base.settings import ListenAddress
from aop.local.problems import DataFolderUnusable, PortTaken
from aop.local.state import DataFolder

DEVELOPMENT_PORT = 8099
"""Where `aop init` places a new Agent; never given to a part of the platform."""

_FILE = "ports.json"
_LAST = 65535
# Below those that systems by default give to outgoing connections, and above most that are known by number.
_QUIET_PORTS = range(20_000, 32_000)
_TRIES = 1_000


class Ports(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gateway: int = 8080
    router: int = 8081
    console: int = 8082
    agents: tuple[int, int, int] = (8091, 8092, 8093)


def stored_ports(folder: DataFolder) -> Ports | None:
    content = folder.read(_FILE)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Ports)
    except msgspec.DecodeError:
        raise DataFolderUnusable(f"{folder.path / _FILE} is damaged; delete it to have ports chosen again") from None


def store_ports(folder: DataFolder, ports: Ports) -> None:
    folder.write(_FILE, msgspec.json.encode(ports) + b"\n")


def choose_ports(host: str = "127.0.0.1") -> Ports:
    defaults, taken = Ports(), {DEVELOPMENT_PORT}

    def choose(default: int) -> int:
        for port in range(default, _LAST + 1):
            if port not in taken and is_free(ListenAddress(host, port)):
                taken.add(port)
                return port
        raise PortTaken(f"no port from {default} upwards is free on {host}")

    gateway, router, console = choose(defaults.gateway), choose(defaults.router), choose(defaults.console)
    first, second, third = (choose(default) for default in defaults.agents)
    return Ports(gateway, router, console, (first, second, third))


def require_free(address: ListenAddress, user: str, folder: DataFolder) -> None:
    """`user` is the setting that moves the address, or what is to listen there."""
    obstacle = _obstacle(address)
    if obstacle is None:
        return
    place = f"{address.host}:{address.port} ({user})"
    if obstacle.errno != errno.EADDRINUSE:
        raise PortTaken(f"{place} cannot be listened on: {obstacle.strerror}")
    move = f" set {user} to another address," if user.startswith("PLATFORM_") else ""
    raise PortTaken(
        f"{place} is in use by another program. Stop that program,{move}"
        f" or delete {folder.path / _FILE} to have ports chosen again"
    )


def is_free(address: ListenAddress) -> bool:
    return _obstacle(address) is None


def _obstacle(address: ListenAddress) -> OSError | None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As a server does: connections of an earlier run that are still closing are no obstacle, a listener is.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
            probe.listen(1)
        except OSError as obstacle:
            return obstacle
    return None


def any_free_port() -> int:
    """One that stays free until it is listened on, though others open connections meanwhile."""
    chance = random.SystemRandom()
    for _ in range(_TRIES):
        port = chance.choice(_QUIET_PORTS)
        if is_free(ListenAddress("127.0.0.1", port)):
            return port
    raise PortTaken(f"of {_TRIES} ports tried from {_QUIET_PORTS.start} to {_QUIET_PORTS.stop - 1} none is free")
