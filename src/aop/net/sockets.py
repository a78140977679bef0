"""Stream sockets: TCP with the options that make a dead peer visible within a minute, and unix sockets."""

import errno
import os
import socket
import stat
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Final

BACKLOG: Final = 2048
SEND_BUFFER_BYTES: Final = 64 * 1024
RECEIVE_BUFFER_BYTES: Final = 256 * 1024
KEEPALIVE_IDLE_SECONDS: Final = 10
KEEPALIVE_INTERVAL_SECONDS: Final = 5
KEEPALIVE_PROBES: Final = 6
INHERITED_DESCRIPTOR: Final = 3
"""Where a process finds the first socket it is handed, by the convention of systemd."""
LISTEN_FDS: Final = "LISTEN_FDS"
LISTEN_PID: Final = "LISTEN_PID"
MAX_PATH_BYTES: Final = 107
"""What the address of a unix socket has room for on Linux."""

# Not every system has every constant; the ones that exist are set, the others have no equivalent there.
_TCP_OPTIONS: Final = (
    ("TCP_NODELAY", 1),
    ("TCP_KEEPIDLE", KEEPALIVE_IDLE_SECONDS),
    ("TCP_KEEPINTVL", KEEPALIVE_INTERVAL_SECONDS),
    ("TCP_KEEPCNT", KEEPALIVE_PROBES),
)

_TELLS_SILENCE: Final = sys.platform == "linux"
# Of Linux' struct tcp_info: retransmissions and probes without an answer, and milliseconds since the last answer.
_TCP_INFO: Final = struct.Struct("=2xBB52xI")


def is_path(address: str) -> bool:
    """Whether it is the absolute path of a unix socket, and no literal IP address."""
    return address.startswith("/")


def stream_socket(address: str) -> socket.socket:
    """A non-blocking socket of the literal address's family, not yet bound or connected."""
    if is_path(address):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setblocking(False)
        return sock
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _TCP_OPTIONS:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    except BaseException:
        sock.close()
        raise
    return sock


def unanswered(sock: socket.socket | None) -> tuple[int, int, float]:
    """How often bytes were sent to the peer's machine again and how often it was probed, in vain, and for how long it
    has acknowledged nothing, in seconds.

    A peer that only rests acknowledges every probe of its closed window.
    """
    if not _TELLS_SILENCE or sock is None or sock.family == socket.AF_UNIX:
        return 0, 0, 0.0
    try:
        state = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    except OSError:  # closed already
        return 0, 0, 0.0
    retransmits, probes, quiet_ms = _TCP_INFO.unpack(state)
    return retransmits, probes, quiet_ms / 1000


def dialing_socket(address: str) -> socket.socket:
    """A socket to connect with, whose receive buffer does not grow."""
    sock = stream_socket(address)
    # The kernel would let a peer that is read slowly fill it with tens of megabytes. Set before the window is agreed.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    return sock


def connected_to_path(path: str) -> socket.socket:
    """At once or never: where no room is left a unix socket does not wait. Raises OSError."""
    sock = dialing_socket(path)
    try:
        sock.connect(path)
    except BaseException:
        sock.close()
        raise
    return sock


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that already listens on a literal address; its accepted sockets inherit the options.

    Raises OSError that names the address, for one when the port is taken.
    """
    sock = stream_socket(host)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        # The kernel's default lets one stalled reader hold megabytes.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        raise OSError(error.errno, f"cannot listen on {where}: {error.strerror}") from error
    return sock


def listening_path(path: str, like: os.stat_result | None = None) -> socket.socket:
    """A socket that already listens on a path, for the user and the group of this process, or for those of another one.

    It stays there when no one listens any more, and the next one replaces it: to remove it at the end could remove
    that of a successor. OSError, for one when somebody still listens there.
    """
    sock = stream_socket(path)
    try:
        try:
            sock.bind(path)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or is_answered(path):
                raise
            os.unlink(path)
            sock.bind(path)
        _permit(path, like)  # before it listens, so that nobody else is ever let in
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"cannot listen on {path}: {error.strerror}") from error
    return sock


def _permit(path: str, like: os.stat_result | None) -> None:
    try:
        if like is not None and like.st_gid != os.lstat(path).st_gid:
            os.chown(path, -1, like.st_gid)
        os.chmod(path, 0o660 if like is None else stat.S_IMODE(like.st_mode))
    except OSError:
        os.unlink(path)
        raise


def is_answered(path: str) -> bool:
    """Whether a process listens there. What is no socket is not removed either."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(path)
        except ConnectionRefusedError:
            return not stat.S_ISSOCK(os.lstat(path).st_mode)
        except OSError:
            return True
    return True


def inherited_socket(environment: Mapping[str, str]) -> socket.socket | None:
    """The one listening socket that the starter of this very process handed to it."""
    handed = inherited_sockets(environment, 1)
    return handed[0] if handed else None


def inherited_sockets(environment: Mapping[str, str], max_count: int) -> Sequence[socket.socket]:
    """Listening sockets that the starter of this very process handed to it: LISTEN_FDS and LISTEN_PID of systemd.

    Variables meant for another process, such as its parent, are not followed, and neither are more than `max_count`.
    """
    counts = {str(count): count for count in range(1, max_count + 1)}
    count = counts.get(environment.get(LISTEN_FDS, ""))
    if environment.get(LISTEN_PID) != str(os.getpid()) or count is None:
        return ()
    return [inherited(INHERITED_DESCRIPTOR + place) for place in range(count)]


def inherited(descriptor: int) -> socket.socket:
    sock = socket.socket(fileno=descriptor)
    sock.set_inheritable(False)
    sock.setblocking(False)
    return sock
