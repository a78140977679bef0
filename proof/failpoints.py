"""The named stages of an invocation in the units, and how a unit under test comes to stop there.

The product has no code for this: the launcher of the tests replaces the named functions in its own process before the
unit starts. A name that leads nowhere is an error at once, so that a renamed function cannot silently disarm a stage.
"""

import functools
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from proof.switchboard import Action, Provoked, Switchboard


class FailpointLost(Exception):
    """The function of a failpoint is not where it is said to be."""


@dataclass(frozen=True)
class Failpoint:
    """`place` is `module:name.of.function`, looked up where its callers look it up."""

    name: str
    place: str
    side: Literal["before", "after"]


ROUTER: Sequence[Failpoint] = (
    Failpoint("resolve.before", "aop.router.targets.resolution:Resolution.card", "before"),
    Failpoint("accept.before", "aop.ledger.journal:Journal.accept", "before"),
    Failpoint("accept.committed", "aop.ledger.store:accept", "after"),
    Failpoint("accept.after", "aop.ledger.journal:Journal.accept", "after"),
    Failpoint("exchange.before", "aop.router.invocation.execution:Execution._exchange", "before"),
    Failpoint("message.answered", "aop.router.a2a.agent:AgentConversation.ask", "after"),
    Failpoint("chunk.framed", "aop.router.stream.delivery:StreamDelivery.chunk", "after"),
    Failpoint("progress.before", "aop.ledger.journal:Journal.progress", "before"),
    Failpoint("progress.after", "aop.ledger.journal:Journal.progress", "after"),
    Failpoint("terminal.before", "aop.ledger.journal:Journal.end", "before"),
    Failpoint("terminal.committed", "aop.ledger.store:append", "after"),
    Failpoint("terminal.after", "aop.ledger.journal:Journal.end", "after"),
    Failpoint("answer.before", "aop.router.api.running_answer:outcome_response", "before"),
    Failpoint("leave.before", "aop.ledger.journal:Journal.request_cancel", "before"),
    Failpoint("leave.after", "aop.ledger.journal:Journal.request_cancel", "after"),
    Failpoint("cancel.before", "aop.router.a2a.agent:AgentConversation.cancel", "before"),
    Failpoint("cancel.after", "aop.router.a2a.agent:AgentConversation.cancel", "after"),
    Failpoint("epoch.opened", "aop.ledger.store:open_epoch", "after"),
    Failpoint("close.read", "aop.ledger.store:open_rows", "after"),
    Failpoint("close.ended", "aop.ledger.store:append", "after"),
    Failpoint("close.before", "aop.ledger.store:close_epoch", "before"),
    Failpoint("close.after", "aop.ledger.store:close_epoch", "after"),
)
CONTROL_PLANE: Sequence[Failpoint] = (
    Failpoint("authorize.after", "aop.control_plane.dispatch.invocations:Invocations.authorize", "after"),
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
    if not inspect.iscoroutinefunction(original):
        return _guarded_plain(point, board, original)

    @functools.wraps(original)
    async def passing(*positional: Any, **named: Any) -> Any:
        if point.side == "after":
            result = await original(*positional, **named)
        if (action := board.due(point.name)) is not None:
            if action in {Action.RAISE, Action.DO_THEN_RAISE}:
                raise Provoked
            await board.pause(action)
        return result if point.side == "after" else await original(*positional, **named)

    return passing


def _guarded_plain(point: Failpoint, board: Switchboard, original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that awaits nothing cannot pause; it can die, stop and raise."""

    @functools.wraps(original)
    def passing(*positional: Any, **named: Any) -> Any:
        if point.side == "before" and board.due(point.name) is not None:
            raise Provoked
        result = original(*positional, **named)
        if point.side == "after" and board.due(point.name) is not None:
            raise Provoked
        return result

    return passing
