"""What this Router knows of Release states, and how fresh its source is."""

from datetime import datetime

from aop.base.clock import Clock, to_text
from aop.contracts.topology import SourceState, TopologySource, TopologyStatus


class Topology:
    """The watched state. Until a watch has delivered a complete snapshot, the source is `initializing`."""

    def __init__(self, clock: Clock) -> None:
        self._state = SourceState.INITIALIZING
        self._since: datetime = clock()

    def status(self) -> TopologyStatus:
        source = TopologySource(state=self._state, since=to_text(self._since))
        return TopologyStatus(schema_version="1", source=source, observations=())
