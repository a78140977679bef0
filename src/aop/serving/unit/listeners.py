"""Where a unit listens: on its address, and on a unix socket if it has one. The process that started it may
have opened them."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address

from aop.net.sockets import LISTEN_FDS, listening_path, listening_socket
from aop.net.worker_sockets import listening_worker_paths
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.unit.unit_settings import CannotStart, Serving


@contextmanager
def unit_listeners(serving: Serving, handed: Sequence[socket.socket]) -> Iterator[Sequence[socket.socket]]:
    """What was handed over and, where it lacks one, what is opened here."""
    with ExitStack() as opened:
        for sock in handed:
            opened.enter_context(sock)
        by_path = [sock for sock in handed if sock.family == socket.AF_UNIX]
        by_address = [sock for sock in handed if sock.family != socket.AF_UNIX]
        _require_agreement(serving, by_address, by_path)
        listeners = list(handed)
        if not by_address:
            with _refusal(serving.address_setting, "address"):
                address = listening_socket(serving.address.host, serving.address.port)
            listeners.append(opened.enter_context(address))
        if serving.socket is not None and not by_path:
            with _refusal(serving.socket.setting, "path"):
                path = listening_path(serving.socket.path)
            listeners.append(opened.enter_context(path))
        yield listeners


@contextmanager
def worker_listeners(serving: Serving, workers: int, log: UnitLog) -> Iterator[Sequence[socket.socket]]:
    """One for each worker, beside the unix socket of the unit; none where there is no place for them: they make calls
    cheaper, and no one depends on them."""
    opened: Sequence[socket.socket] = ()
    if serving.socket is not None and workers > 1:
        try:
            opened = listening_worker_paths(serving.socket.path, workers)
        except OSError as failure:
            # One without a number is Python's own, which looks at the length before it asks the system.
            cause = os.strerror(failure.errno) if failure.errno else "their paths would be too long"
            log.event("unit.no_worker_sockets", level=Level.WARNING, cause=cause)
    try:
        yield opened
    finally:
        for sock in opened:
            sock.close()


def _require_agreement(serving: Serving, by_address: Sequence[socket.socket], by_path: Sequence[socket.socket]) -> None:
    wanted = ip_address(serving.address.host), serving.address.port
    for sock in by_address:
        host, port = sock.getsockname()[:2]
        if (ip_address(host), port) != wanted:
            raise CannotStart(_other(serving.address_setting, "address"))
    for sock in by_path:
        if serving.socket is None:
            raise CannotStart(f"{LISTEN_FDS} hands over a unix socket, and no setting names its path")
        if sock.getsockname() != serving.socket.path:
            raise CannotStart(_other(serving.socket.setting, "path"))


def _other(setting: str, what: str) -> str:
    return f"{setting}: the socket handed over in {LISTEN_FDS} has another {what}"


@contextmanager
def _refusal(setting: str, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        reason = os.strerror(failure.errno or 0)
        raise CannotStart(f"{setting}: the {what} cannot be listened on ({reason})") from None
