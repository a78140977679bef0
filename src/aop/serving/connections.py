"""What a unit does to connections by itself: counted, logged at a bounded rate, and refused in the usual envelope."""

import time
from collections import Counter

from aop.base.ids import new_trace_id
from aop.contracts.errors import ErrorCode
from aop.net.server import ConnectionEvent, whole_answer
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import Level, UnitLog
from aop.serving.response import TRACE_HEADER, error_answer

_RECORD_SECONDS = 10.0


class ConnectionRecords:
    """One record of a kind in ten seconds, which says how many there were since the one before; the metric has all."""

    def __init__(self, log: UnitLog, metrics: UnitMetrics) -> None:
        self._log = log
        self._count = metrics.connection_events(ConnectionEvent)
        self._untold: Counter[ConnectionEvent] = Counter()
        self._told_at: dict[ConnectionEvent, float] = {}

    def note(self, event: ConnectionEvent) -> None:
        self._count[event]()
        self._untold[event] += 1
        now = time.monotonic()
        if now - self._told_at.get(event, float("-inf")) >= _RECORD_SECONDS:
            self._told_at[event] = now
            count = self._untold.pop(event)
            self._log.event(f"connections.{event}", level=Level.WARNING, cause=f"{count} since the last such record")

    def refusal(self) -> bytes:
        """OVERLOADED, for a connection that no request was read from."""
        trace_id = new_trace_id()
        answer = error_answer(ErrorCode.OVERLOADED, trace_id)
        headers = ((TRACE_HEADER, trace_id.encode()), (b"cache-control", b"no-store"), *answer.headers)
        return whole_answer(answer.status, headers, answer.body)
