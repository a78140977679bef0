"""What all calls together may use of the front: places, and bytes of answers that it must hold."""

from typing import Final

from aop.front.faults import UpstreamUnavailable
from aop.serving.unit.held import HeldMemory

DEFAULT_CALLS: Final = 512


class FrontFull(UpstreamUnavailable):
    """The answers that the front must hold for all its calls take more than it may use."""

    status = 503
    leaves_task = True


class FrontMemory(HeldMemory):
    """One for the whole front."""

    def full(self) -> Exception:
        return FrontFull("the front holds as much as it may")
