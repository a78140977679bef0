"""Where `aop front` listens. The address is opened before anything is written, so that no Card names a taken one."""

import asyncio
import errno
import socket

from aop.agent.guard.settings import DEVELOPMENT_ADDRESS
from aop.cli.provider.agent_port import free_addresses, port_taken
from aop.cli.shell.destination import LocalPlatform
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.contracts.card import AgentCard
from aop.front.settings import ReadFrontSettings
from aop.net import address_settings as addresses
from aop.net.address_settings import ListenAddress
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.net.sockets import listening_socket


def named_address(listen: str | None) -> ListenAddress | None:
    try:
        return None if listen is None else addresses.listen_address(listen)
    except ValueError as problem:
        raise UsageProblem(f"--listen {problem}") from None


def free_address(local: LocalPlatform | None) -> ListenAddress:
    """The usual one where none is free; opening it then says who listens there."""
    return next(free_addresses(local), DEVELOPMENT_ADDRESS)


def opened_address(
    listen: str | None, origin: str | None, card: AgentCard | None, local: LocalPlatform | None
) -> tuple[ListenAddress, socket.socket]:
    """The address that is named, else that of the Card, else a free one. `origin` alone is of a proxy in front, which
    expects the usual address."""
    own = _address_of(card)
    address = named_address(listen) or own or (DEVELOPMENT_ADDRESS if origin is not None else free_address(local))
    return address, _opened(address, card, local, "--listen ", "`protocol.endpoint` of the Card")


def opened_for(found: ReadFrontSettings, local: LocalPlatform | None) -> socket.socket:
    """The address that the settings name."""
    return _opened(found.listen, found.agents[0].card, local, "/listen ", "`protocol.endpoint` of its Cards")


def _opened(
    address: ListenAddress, card: AgentCard | None, local: LocalPlatform | None, setting: str, endpoint: str
) -> socket.socket:
    try:
        return listening_socket(address.host, address.port)
    except OSError as problem:
        if problem.errno != errno.EADDRINUSE:
            raise CommandProblem(f"{address.text} cannot be listened on: {problem.strerror}") from None
    free = next(free_addresses(local), None)
    other = "" if free is None else f", or listen elsewhere: {setting}{free.text}"
    if free is not None and card is not None:
        other += f", with {free.origin} in {endpoint}"
    raise asyncio.run(port_taken(address, "" if card is None else card.agent_id, f"stop it there{other}"))


def _address_of(card: AgentCard | None) -> ListenAddress | None:
    """Of a Card that is called on this machine."""
    try:
        endpoint = None if card is None else Endpoint.parse(card.protocol.endpoint)
    except InvalidEndpoint:
        return None
    local = endpoint is not None and endpoint.is_loopback and endpoint.scheme == "http"
    return ListenAddress(endpoint.host, endpoint.port) if endpoint is not None and local else None
