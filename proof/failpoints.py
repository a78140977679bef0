"""The named stages of an invocation in the units, its calls that leave the process, and how a unit stops at one.

The product has no code for this: the launcher of the tests replaces the named functions in its own process before the
unit starts. A name that leads nowhere is an error at once, so that a renamed function cannot silently disarm a stage.
Of I/O calls, those of tasks that live as long as the unit are not counted; the Ledger's writers are.

`python -m proof.failpoints router CONTROL` starts a unit with them, the only way to get a failpoint into a process. It
lies with the tests, which no package of the product carries.
"""

import argparse
import asyncio
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aop.cli.operator import units
from aop.net.http.message import HttpTimeout, TransferBroken
from proof.switchboard import Action, Armed, Provoked, Switchboard


class FailpointLost(Exception):
    """The function of a failpoint is not where it is said to be."""


_FOR_EVER = 86_400.0


@dataclass(frozen=True)
class Failpoint:
    """`place` is `module:name.of.function`, looked up where its callers look it up.

    `broken` leaves behind what a failure leaves and gives what it raises; `hung` is for how many seconds a silent peer
    is waited for, and what is raised then. Both are told what the function was called on.
    """

    name: str
    place: str
    side: Literal["before", "after"] = "before"
    broken: Callable[[Any], Exception] = lambda _: Provoked()
    hung: Callable[[Any, Mapping[str, Any]], tuple[float, Exception]] = lambda _, __: (_FOR_EVER, Provoked())


ROUTER: Sequence[Failpoint] = (
    Failpoint("resolve.before", "aop.router.targets.resolution:Resolution.card", "before"),
    Failpoint("accept.before", "aop.ledger.write.journal:Journal.accept", "before"),
    Failpoint("accept.committed", "aop.ledger.write.store:accept", "after"),
    Failpoint("accept.after", "aop.ledger.write.journal:Journal.accept", "after"),
    Failpoint("exchange.before", "aop.router.invocation.execution:Execution._exchange", "before"),
    Failpoint("message.answered", "aop.router.a2a.agent:AgentConversation.ask", "after"),
    Failpoint("chunk.framed", "aop.router.stream.delivery:StreamDelivery.chunk", "after"),
    Failpoint("progress.before", "aop.ledger.write.journal:Journal.progress", "before"),
    Failpoint("progress.after", "aop.ledger.write.journal:Journal.progress", "after"),
    Failpoint("terminal.before", "aop.ledger.write.journal:Journal.end", "before"),
    Failpoint("terminal.committed", "aop.ledger.write.store:append", "after"),
    Failpoint("terminal.after", "aop.ledger.write.journal:Journal.end", "after"),
    Failpoint("answer.before", "aop.router.api.invocations:outcome_response", "before"),
    Failpoint("leave.before", "aop.ledger.write.journal:Journal.request_cancel", "before"),
    Failpoint("leave.after", "aop.ledger.write.journal:Journal.request_cancel", "after"),
    Failpoint("cancel.before", "aop.router.a2a.agent:AgentConversation.cancel", "before"),
    Failpoint("cancel.after", "aop.router.a2a.agent:AgentConversation.cancel", "after"),
    Failpoint("epoch.opened", "aop.ledger.write.store:open_epoch", "after"),
    Failpoint("close.read", "aop.ledger.write.store:open_rows", "after"),
    Failpoint("close.ended", "aop.ledger.write.store:append", "after"),
    Failpoint("close.before", "aop.ledger.write.store:close_epoch", "before"),
    Failpoint("close.after", "aop.ledger.write.store:close_epoch", "after"),
)
CONTROL_PLANE: Sequence[Failpoint] = (
    Failpoint("authorize.after", "aop.control_plane.dispatch.authorization:Authorization.for_caller", "after"),
    Failpoint("dispatch.before", "aop.control_plane.dispatch.router_client:RouterClient.dispatch", "before"),
    Failpoint("dispatch.after", "aop.control_plane.dispatch.router_client:RouterClient.dispatch", "after"),
    Failpoint("stream.opened", "aop.control_plane.dispatch.router_client:RouterClient.open_stream", "after"),
)
OF_UNIT = {"router": ROUTER, "control-plane": CONTROL_PLANE}


def install(points: Sequence[Failpoint], board: Switchboard) -> None:
    for point in points:
        replace(point.place, functools.partial(_guarded, point, board))


def replace(place: str, wrapped: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Puts a function in the place of the one that is there."""
    module_name, _, path = place.partition(":")
    *owners, name = path.split(".")
    try:
        owner: Any = importlib.import_module(module_name)
        for part in owners:
            owner = getattr(owner, part)
        original = getattr(owner, name)
    except (ImportError, AttributeError) as problem:
        raise FailpointLost(f"{place}: {problem}") from problem
    setattr(owner, name, wrapped(original))


def _guarded(point: Failpoint, board: Switchboard, original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that awaits nothing cannot pause; it can die and raise."""

    @functools.wraps(original)
    async def passing(*positional: Any, **named: Any) -> Any:
        done = [await original(*positional, **named)] if point.side == "after" else []
        action = None if point in IO and _is_background() else board.due(point.name)
        if action is Action.HANG:
            arguments = inspect.signature(original).bind(*positional, **named).arguments
            seconds, failure = point.hung(positional[0], arguments)
            await asyncio.sleep(seconds)
            raise failure
        if action is Action.RAISE:
            raise point.broken(positional[0])
        await board.pause(action)
        result = done[0] if done else await original(*positional, **named)
        if action is Action.DO_THEN_RAISE:
            raise point.broken(positional[0])
        return result

    @functools.wraps(original)
    def passing_plainly(*positional: Any, **named: Any) -> Any:
        if point.side == "before" and board.due(point.name) is not None:
            raise Provoked
        result = original(*positional, **named)
        if point.side == "after" and board.due(point.name) is not None:
            raise Provoked
        return result

    return passing if inspect.iscoroutinefunction(original) else passing_plainly


def _is_background() -> bool:
    task = asyncio.current_task()
    return task is None or task.get_name() in _BACKGROUND


_BACKGROUND = {
    "loop topology watch",
    "loop checkpoints",
    "loop epoch watch",
    "loop parents",
    "loop changes",
    "loop ledger settle",
    "loop sequencer",
}


def _store_lost(connection: Any) -> Exception:
    connection.terminate()
    return Provoked()


def _peer_lost(_: Any) -> Exception:
    return TransferBroken("provoked")


def _stream_lost(opened: Any) -> Exception:
    """Perhaps with its head already read."""
    if opened._answer is not None:
        opened._answer._connection.abort()
    return TransferBroken("provoked")


def _store_silent(connection: Any, _: Mapping[str, Any]) -> tuple[float, Exception]:
    return connection._config.command_timeout or _FOR_EVER, TimeoutError()


def _until(deadline: float) -> tuple[float, Exception]:
    return max(0.0, deadline - asyncio.get_running_loop().time()), HttpTimeout("provoked")


_IN_STORE: dict[str, Any] = {"broken": _store_lost, "hung": _store_silent}
_CLIENT = "aop.net.http.client"
IO: Sequence[Failpoint] = (
    *(
        Failpoint(f"store {name}", f"asyncpg.connection:Connection.{name}", **_IN_STORE)
        for name in ("fetch", "fetchrow", "fetchval", "execute")
    ),
    Failpoint(
        "peer request",
        f"{_CLIENT}:HttpClient.exchange",
        broken=_peer_lost,
        hung=lambda _, named: _until(named["deadline"]),
    ),
    Failpoint(
        "peer stream head",
        f"{_CLIENT}:AnswerStream.__aenter__",
        broken=_stream_lost,
        hung=lambda opened, _: _until(opened.deadline),
    ),
    Failpoint("peer stream piece", f"{_CLIENT}:StreamedAnswer.__anext__", broken=_peer_lost),
    Failpoint("peer stream pieces", f"{_CLIENT}:StreamedAnswer.hand_to", broken=_peer_lost),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof.failpoints")
    parser.add_argument("unit", choices=sorted(OF_UNIT))
    parser.add_argument("control", type=Path, help="a socket to arm, await and release points by")
    parser.add_argument("--failpoint", type=Armed.read, help="POINT=ACTION, or POINT=ACTION@N for the Nth passing")
    chosen = parser.parse_args()
    board = Switchboard()
    install((*OF_UNIT[chosen.unit], *IO), board)
    board.arm(chosen.failpoint)
    _accompany(board, chosen.control)
    return units.run_unit(chosen.unit)


def _accompany(board: Switchboard, control: Path) -> None:
    """The remote control lives on the unit's own loop, for as long as the unit."""
    plain = units._run

    async def accompanied(name: str, workers: int | None) -> None:
        with closing(await asyncio.start_unix_server(board.serve, control)):
            await plain(name, workers)

    units._run = accompanied


if __name__ == "__main__":
    sys.exit(main())
