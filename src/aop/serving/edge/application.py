"""The ASGI application of a unit: the checks of contract 0.3 in their order, around the calls of its routes.

0. a head that cannot be read in two ways, from an origin that may ask;
1. path known; 2. method offered; 3. authentication; 4. free slot; 5. path identifiers, then query; then the call.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from aop.base.clock import now_text
from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import ErrorCode, InvalidRequest, NotFound, Overloaded, Reason, Refusal, Violation
from aop.net.asgi import AnswerBroken, Receive, Scope, Send
from aop.serving.edge.admission import Slots
from aop.serving.edge.cors import CrossOrigin
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.query import read_query
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import Level, RequestRecord, UnitLog, safe_cause
from aop.serving.edge.response import Response, error_answer
from aop.serving.edge.routing import Route, RouteAnswer, RouteTable, Spanned, require_path_values
from aop.store.problems import StoreUnavailable
from aop.telemetry.spans import Attribute
from aop.telemetry.tracing import AnsweredRequest, Tracing

_NO_ERROR = ("", "")
_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"})


class Application:
    def __init__(
        self,
        routes: Sequence[Route],
        log: UnitLog,
        metrics: UnitMetrics,
        cross_origin: CrossOrigin | None = None,
        tracing: Tracing | None = None,
        workers: SchemaWorkers | None = None,
        note_failure: Callable[[Reason], None] = lambda _: None,
    ) -> None:
        """`note_failure` is called with the reason of each error that has one."""
        self.routes = tuple(routes)
        self._table = RouteTable(routes)
        self._log = log
        self._metrics = metrics
        self._cross_origin = cross_origin or CrossOrigin()
        self._tracing = tracing
        self._workers = workers
        self._note_failure = note_failure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, receive, tracing=self._tracing, workers=self._workers)
        exchange = _Exchange(request, self._cross_origin)
        try:
            try:
                answer = await exchange.checked(self._table)
            except Exception as fault:  # noqa: BLE001  the edge: an unforeseen fault becomes INTERNAL_ERROR
                answer = exchange.failed(fault)
            exchange.status, exchange.code, exchange.reason = answer.status, answer.code, answer.reason
            try:
                await answer.deliver(request, self._cross_origin.grant(request), send)
            except Exception as fault:
                # Only its end can tell the caller. What says so to the log is an answer that is never sent.
                said = exchange.failed(fault)
                exchange.code, exchange.reason = said.code, said.reason
                if exchange.level is Level.ERROR:
                    raise
                raise AnswerBroken from fault
        finally:
            if exchange.slots is not None:
                exchange.slots.give_back()
            self._record(exchange, started)

    def _record(self, exchange: "_Exchange", started: float) -> None:
        request, route, level = exchange.request, exchange.route, exchange.level
        template = None if route is None else route.path
        method = request.scope["method"]
        if method not in _METHODS:
            method = "other"
        code, ended = exchange.code, time.perf_counter()
        seconds = ended - started
        if request.phases is not None:
            request.phases.end(code)
        error = _NO_ERROR if code is None else (code.value, exchange.reason or "")
        self._metrics.answered(template or "unknown", method, exchange.status, error, seconds)
        if exchange.reason:
            self._note_failure(exchange.reason)
        if exchange.unadmitted:
            self._metrics.refused(template or "unknown")
        if self._tracing is not None:
            _trace(self._tracing, exchange, method, started, ended)
        said, reason = (code, exchange.reason) if code or not request.failure else request.failure
        self._log.request(
            level,
            RequestRecord(
                time=now_text(),
                level=level.text,
                unit=self._log.unit,
                event="request",
                method=method,
                route=template,
                status=exchange.status,
                trace_id=request.trace_id,
                milliseconds=round(seconds * 1000, 3),
                code=said,
                reason=reason,
                caller=request.caller,
                invocation_id=request.invocation_id,
                cause=exchange.cause,
            ),
        )


class _Exchange:
    """One request and its answer, with what the record will say of them."""

    route: Route | None = None
    status = 0
    code: ErrorCode | None = None
    reason: Reason | None = None
    cause: str | None = None
    level = Level.INFO
    unadmitted = False
    slots: Slots | None = None
    """Where it has a slot, which is held until the answer is delivered."""

    def __init__(self, request: Request, cross_origin: CrossOrigin) -> None:
        self.request = request
        self._cross_origin = cross_origin

    def failed(self, fault: Exception) -> RouteAnswer:
        trace_id = self.request.trace_id
        if isinstance(fault, Refusal):
            self.cause = str(fault) or None
            return error_answer(fault.code, trace_id, fault.violations, fault.reason)
        if isinstance(fault, StoreUnavailable):
            self.cause = str(fault)
            return error_answer(ErrorCode.DEPENDENCY_ERROR, trace_id, reason=Reason.STORE_UNAVAILABLE)
        self.cause = safe_cause(fault)
        self.level = Level.ERROR
        return error_answer(ErrorCode.INTERNAL_ERROR, trace_id)

    async def checked(self, table: RouteTable) -> RouteAnswer:
        request, scope = self.request, self.request.scope
        ambiguity = request.server.ambiguity
        if ambiguity is not None:
            request.close_connection = True
            raise InvalidRequest(Violation("", ambiguity))
        self._cross_origin.require(request)
        found = table.find(scope["raw_path"])
        if found is None:
            raise NotFound("unknown path")
        routes, request.path = found
        route = routes.get(scope["method"])
        self.route = route or next(iter(routes.values()))
        if route is None:
            return self._cross_origin.preflight(request) or _not_offered(routes)
        request.joins_trace = route.spanned is Spanned.UNDER_CALLER
        await route.access(request)
        if route.slots is not None:
            self._admit(route.slots)
        require_path_values(request.path)
        if route.query is not None and scope["query_string"]:
            request.query = read_query(request.query_string, route.query)
        return await route.call(request)

    def _admit(self, slots: Slots) -> None:
        try:
            slots.take()
        except Overloaded:
            self.unadmitted = True
            raise
        self.slots = slots


def _trace(tracing: Tracing, exchange: _Exchange, method: str, started: float, ended: float) -> None:
    request, route = exchange.request, exchange.route
    span = None if route is None or route.spanned is Spanned.NOT else request.span()
    if span is None or route is None:
        return
    attributes: dict[str, Attribute] = {
        "http.request.method": method,
        "http.route": route.path,
        "http.response.status_code": exchange.status,
    }
    if request.invocation_id is not None:
        attributes["aop.invocation.id"] = request.invocation_id
    if exchange.code is not None:
        attributes["error.type"] = exchange.code.value
    served = AnsweredRequest(f"{method} {route.path}", started, ended, attributes, exchange.status >= 500)
    tracing.served(span, served, request.phases)


def _not_offered(methods: Iterable[str]) -> Response:
    return Response(405, headers=((b"allow", ", ".join(sorted(methods)).encode()),))
