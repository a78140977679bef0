"""The system calls of another process's main thread, stopped at each of them by `ptrace`, as strace does it."""

import ctypes
import os
import platform
import signal
import threading
from collections import Counter
from collections.abc import Mapping

_SEIZE, _INTERRUPT, _CONTINUE_TO_CALL, _DETACH, _CALL_INFO = 0x4206, 0x4207, 24, 17, 0x420E
_MARK_CALLS = 1
_WAIT_ALL = 0x40000000
_CALL_STOP = 5 | 0x80
_ENTRY = 1
_KINDS: Mapping[str, Mapping[int, str]] = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 20: "writev", 39: "getpid", 44: "sendto", 45: "recvfrom", 46: "sendmsg",
        47: "recvmsg", 232: "epoll", 233: "epoll", 281: "epoll",
    },
    "aarch64": {
        63: "read", 64: "write", 66: "writev", 73: "poll", 172: "getpid", 206: "sendto", 207: "recvfrom",
        211: "sendmsg", 212: "recvmsg", 21: "epoll", 22: "epoll",
    },
}  # fmt: skip
OTHERS, WAITS = "others", "epoll"


class _CallInfo(ctypes.Structure):
    """Of Linux's `ptrace_syscall_info`, as far as it is read here."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("places", ctypes.c_uint64 * 2),
        ("number", ctypes.c_uint64),
    )


class NotPermitted(Exception):
    """This machine, or the container, lets no process trace another one, or is of a kind that is not known here."""


class SystemCalls:
    """Counts between `begin` and `end`, in a thread of its own: a traced process obeys the thread that seized it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._libc.ptrace.restype = ctypes.c_long
        self._names = _KINDS.get(platform.machine())
        self._counts: Counter[str] = Counter()
        self._is_on = False
        self._is_ending = threading.Event()
        self._began = threading.Event()
        self._is_permitted = False
        self._thread = threading.Thread(target=self._trace, daemon=True)

    def __enter__(self) -> "SystemCalls":
        if self._names is not None:
            self._thread.start()
            self._began.wait()
        if not self._is_permitted:
            raise NotPermitted
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        os.kill(self._pid, signal.SIGCONT)  # which does nothing but stop it once more
        self._thread.join()

    def begin(self) -> None:
        self._counts.clear()
        self._is_on = True

    def end(self) -> "Counter[str]":
        """By kind. All that is neither read nor written, nor waits, is `OTHERS`."""
        self._is_on = False
        return self._counts.copy()

    def _ask(self, request: int, address: int = 0, data: object = None) -> int:
        return int(self._libc.ptrace(request, self._pid, address, data))

    def _trace(self) -> None:
        self._is_permitted = self._ask(_SEIZE, 0, _MARK_CALLS) == 0
        if self._is_permitted:
            self._ask(_INTERRUPT)
        self._began.set()
        if not self._is_permitted:
            return
        while True:
            _, status = os.waitpid(self._pid, _WAIT_ALL)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                return
            number = os.WSTOPSIG(status)
            if number == _CALL_STOP:
                self._count()
            if self._is_ending.is_set():
                self._ask(_DETACH)
                return
            is_own_stop = number == _CALL_STOP or status >> 16
            self._ask(_CONTINUE_TO_CALL, 0, None if is_own_stop else number)

    def _count(self) -> None:
        info = _CallInfo()
        self._ask(_CALL_INFO, ctypes.sizeof(info), ctypes.byref(info))
        if info.op == _ENTRY and self._is_on and self._names is not None:
            self._counts[self._names.get(info.number, OTHERS)] += 1
