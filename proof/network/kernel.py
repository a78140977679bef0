"""Network namespaces by the kernel's own interface, and a unit in one: `python -m proof.network.kernel router EXCHANGE
ADDRESS` starts it with loopback and one interface, whose other end is handed in at the exchange.

No program and no package is needed for it, only the right to have a namespace at all.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

from aop.cli import units

_CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
_IFF_UP_RUNNING = 0x41
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_RTM_NEWROUTE, _NLM_REQUEST_ACK_CREATE, _RTA_OIF = 24, 0x405, 4
_TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_HOST, _TYPE_LOCAL = 255, 3, 254, 2
_libc = ctypes.CDLL(None, use_errno=True)


def bind_over(source: Path, target: Path) -> None:
    """Makes the one appear in the place of the other, in this mount namespace."""
    _require(_libc.mount(os.fsencode(source), os.fsencode(target.resolve()), None, _MS_BIND, None))


def loopback_up() -> None:
    _interface("lo", _SIOCSIFFLAGS, struct.pack("H14x", _IFF_UP_RUNNING))


def own_every_address() -> None:
    """From here on every address of both families is this machine's: whoever is dialled, it is a listener here."""
    for family in (socket.AF_INET, socket.AF_INET6):
        route = (0, 0, 0, _TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_HOST, _TYPE_LOCAL, 0)
        body = struct.pack("BBBBBBBBI", family, *route)
        body += struct.pack("HHI", 8, _RTA_OIF, socket.if_nametoindex("lo"))
        head = struct.pack("IHHII", 16 + len(body), _RTM_NEWROUTE, _NLM_REQUEST_ACK_CREATE, 1, 0)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
            link.send(head + body)
            (failure,) = struct.unpack_from("i", link.recv(4096), 16)
        if failure:
            raise OSError(-failure, os.strerror(-failure))


def packet_device(address: str) -> int:
    """An interface with this address in a network of 256; what is sent by it can be read from the descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"wire", _IFF_TUN | _IFF_NO_PI))
    for request, value in ((_SIOCSIFADDR, address), (_SIOCSIFNETMASK, "255.255.255.0")):
        _interface("wire", request, struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(value)))
    _interface("wire", _SIOCSIFFLAGS, struct.pack("H14x", _IFF_UP_RUNNING))
    return device


def _interface(name: str, request: int, value: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, request, struct.pack("16s", name.encode()) + value + bytes(8))


def _require(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main(name: str, exchange: str, address: str) -> int:
    _require(_libc.unshare(_CLONE_NEWNET))
    loopback_up()
    device = packet_device(address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as handing:
        handing.connect(exchange)
        socket.send_fds(handing, [address.encode()], [device])
        handing.recv(2)
    os.close(device)
    return units.run_unit(name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
