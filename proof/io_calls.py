"""Every call of an invocation that leaves the process, each of which a test can make fail: a point for each kind.

Calls of tasks that live as long as the unit (watches, checkpoints, debts) are not counted; the Ledger's writers are.
"""

import asyncio
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aop.net.http.message import HttpTimeout, TransferBroken
from proof.failpoints import replace
from proof.switchboard import Action, Provoked, Switchboard

_FOR_EVER = 86_400.0
_BACKGROUND = {
    "loop topology watch",
    "loop checkpoints",
    "loop epoch watch",
    "loop parents",
    "loop changes",
    "loop ledger settle",
}


class _Call(NamedTuple):
    """`broken` leaves behind what a failure leaves and gives what it raises; `hung` is how long a silent peer is waited
    for, in seconds or for ever, and what is raised then."""

    place: str
    broken: Callable[[Any], Exception]
    hung: Callable[[Any, dict[str, Any]], tuple[float | None, Exception]]


def _store_lost(connection: Any) -> Exception:
    connection.terminate()
    return Provoked()


def _peer_lost(_: Any) -> Exception:
    return TransferBroken("provoked")


def _stream_lost(opened: Any) -> Exception:
    """Perhaps with its head already read."""
    connection = None if opened._answer is None else opened._answer.detach()
    if connection is not None:
        connection.abort()
    return TransferBroken("provoked")


def _store_silent(connection: Any, _: dict[str, Any]) -> tuple[float | None, Exception]:
    return connection._config.command_timeout, TimeoutError()


def _until(deadline: float) -> tuple[float, Exception]:
    return max(0.0, deadline - asyncio.get_running_loop().time()), HttpTimeout("provoked")


_CALLS: Mapping[str, _Call] = {
    "store fetch": _Call("asyncpg.connection:Connection.fetch", _store_lost, _store_silent),
    "store fetchrow": _Call("asyncpg.connection:Connection.fetchrow", _store_lost, _store_silent),
    "store fetchval": _Call("asyncpg.connection:Connection.fetchval", _store_lost, _store_silent),
    "store execute": _Call("asyncpg.connection:Connection.execute", _store_lost, _store_silent),
    "peer request": _Call(
        "aop.net.http.client:HttpClient.request", _peer_lost, lambda _, named: _until(named["deadline"])
    ),
    "peer stream head": _Call(
        "aop.net.http.client:AnswerStream.__aenter__",
        _stream_lost,
        lambda opened, _: _until(opened._exchange.deadline),
    ),
    "peer stream piece": _Call(
        "aop.net.http.client:StreamedAnswer.__anext__", _peer_lost, lambda _, __: (None, HttpTimeout("provoked"))
    ),
}


KINDS = tuple(_CALLS)
"""The names of the points."""


def install(board: Switchboard) -> None:
    for label, call in _CALLS.items():
        replace(call.place, functools.partial(_counted, board, label, call))


def _counted(board: Switchboard, label: str, kind: _Call, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def call(subject: Any, *positional: Any, **named: Any) -> Any:
        action = None if _is_background() else board.due(label)
        if action is None:
            return await original(subject, *positional, **named)
        if action is Action.HANG:
            seconds, failure = kind.hung(subject, named)
            await asyncio.sleep(_FOR_EVER if seconds is None else seconds)
            raise failure
        return await board.around(action, lambda: original(subject, *positional, **named), lambda: kind.broken(subject))

    return call


def _is_background() -> bool:
    task = asyncio.current_task()
    return task is None or task.get_name() in _BACKGROUND
