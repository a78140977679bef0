"""The signals that end a program which runs until it is stopped."""

import asyncio
import signal
from collections.abc import Callable

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_ending(act: Callable[[], None]) -> None:
    """Calls `act` at each of them, in the running event loop.

    A program that was started with nohup is to outlive the terminal, so a hang-up that is ignored stays ignored.
    """
    loop = asyncio.get_running_loop()
    for number in _NUMBERS:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, act)
