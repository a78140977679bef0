"""What the platform under test is to be: how many units, which edges have a proxy, and how the units are started."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tests.support.replicas import Replica


class Edge(StrEnum):
    """Who dials whom."""

    CALLER = "caller to Gateway"
    DISPATCH = "Gateway to Router"
    INTERNAL = "Router to Control Plane"
    AGENT = "Router to Agent"
    CONTROL_PLANE_STORE = "Control Plane to PostgreSQL"
    ROUTER_STORE = "Router to PostgreSQL"


@dataclass(frozen=True)
class Plan:
    """`pairs` of a Control Plane and a Router; a proxy on each of the edges, one for each pair; settings beside the
    usual ones; `failpoints` starts the units so that points in them can be armed, `launched` in any other way.

    `here` is the address of this machine, `elsewhere` those of the two units when each has a machine of its own.
    """

    pairs: int = 1
    edges: frozenset[Edge] = frozenset()
    control_plane: Mapping[str, str] = field(default_factory=dict)
    router: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    failpoints: bool = False
    launched: Callable[[Replica], Replica] | None = None
    here: str = "127.0.0.1"
    elsewhere: Sequence[str] = ()


def launched(plan: Plan, unit: Replica) -> Replica:
    """By the launcher of the plan, or by the one that puts failpoints in."""
    if plan.launched is not None:
        return plan.launched(unit)
    if not plan.failpoints:
        return unit
    return replace(unit, command=("-m", "proof.unit"), options=(str(control_of(unit)),))


def control_of(unit: Replica) -> Path:
    """The path of a socket has to be short, which that of a test's folder is not."""
    return Path(gettempdir()) / f"aop-control-{unit.unit.port}"
