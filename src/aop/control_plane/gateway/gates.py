"""What stands in front of every Gateway route: who may call, and how many at once."""

from dataclasses import dataclass

from aop.control_plane.gateway.callers import Callers
from aop.serving.admission import Slots


@dataclass(frozen=True)
class Gates:
    callers: Callers
    invocations: Slots
    requests: Slots
