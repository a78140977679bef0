"""Starts a unit on a machine of its own: `python -m proof.network.machine router EXCHANGE ADDRESS`.

A network namespace with loopback and one interface, whose other end is handed in at the exchange.
"""

import os
import socket
import sys

from aop.cli import units
from proof.network import kernel


def main(name: str, exchange: str, address: str) -> int:
    kernel.new_network()
    join(exchange, address)
    return units.run_unit(name)


def join(exchange: str, address: str) -> None:
    kernel.loopback_up()
    device = kernel.packet_device(address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as handing:
        handing.connect(exchange)
        socket.send_fds(handing, [address.encode()], [device])
        handing.recv(2)
    os.close(device)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
