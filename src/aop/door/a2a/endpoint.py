"""The routes of A2A: JSON-RPC at the address of an installed Agent, and its agent card below that."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from aop.a2a.rpc import (
    REFUSED,
    MalformedRequest,
    MethodNotFound,
    PushNotSupported,
    RequestId,
    RpcFault,
    failure,
    read_envelope,
)
from aop.a2a.versions import VERSION_HEADER, A2AVersion
from aop.contracts.errors import InvalidRequest
from aop.door.a2a.calls import A2ACall
from aop.door.a2a.card import CARD_PATHS, agent_card
from aop.door.a2a.errors import (
    BodyNotJson,
    OperationNotSupported,
    VersionNotSupported,
    error_data,
    facts_of,
    is_answered_by_http,
    rpc_fault,
)
from aop.door.a2a.streams import open_stream
from aop.door.faults import GatewayFault
from aop.door.protocol import DoorParts, DoorRoute
from aop.door.request import DoorRequest
from aop.door.running import DoorCalls
from aop.door.settings import DoorSettings
from aop.serving.edge.body import read_bytes, require_json_type
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Response, json_response
from aop.serving.edge.routing import RouteAnswer
from aop.serving.workers.worker_group import WorkerGroup

PATH: Final = "/a2a/:workspaceId/:agentId"
MAX_ID: Final = 256
_ID_BITS: Final = 64
_VERSION: Final = re.compile(rb"([0-9]{1,4}\.[0-9]{1,4})(?:\.[0-9]{1,4})?")

Operation = Callable[[A2ACall], Awaitable[RouteAnswer]]


OPERATIONS: Final[Mapping[A2AVersion, Mapping[str, Operation | type[RpcFault]]]] = {
    A2AVersion.V0_3: {
        "message/send": A2ACall.send,
        "message/stream": open_stream,
        "tasks/get": A2ACall.get,
        "tasks/cancel": A2ACall.cancel,
        "tasks/resubscribe": A2ACall.resubscribe,
        **REFUSED,
    },
    A2AVersion.V1_0: {
        "SendMessage": A2ACall.send,
        "SendStreamingMessage": open_stream,
        "GetTask": A2ACall.get,
        "CancelTask": A2ACall.cancel,
        "ListTasks": OperationNotSupported,
        "SubscribeToTask": A2ACall.resubscribe,
        "CreateTaskPushNotificationConfig": PushNotSupported,
        "GetTaskPushNotificationConfig": PushNotSupported,
        "ListTaskPushNotificationConfigs": PushNotSupported,
        "DeleteTaskPushNotificationConfig": PushNotSupported,
        "GetExtendedAgentCard": OperationNotSupported,
    },
}
"""Every method of the protocol, offered or refused as the protocol says. Any other name is an unknown method."""


def a2a_routes(parts: DoorParts) -> Sequence[DoorRoute]:
    door = A2ADoor(parts.settings, parts.group)
    return [
        DoorRoute("POST", PATH, door.call),
        DoorRoute("POST", f"{PATH}/", door.call),  # some clients put a slash after every address
        *(DoorRoute("GET", PATH + path, door.card) for path in CARD_PATHS),
    ]


class A2ADoor:
    def __init__(self, settings: DoorSettings, group: WorkerGroup) -> None:
        self._origin = settings.origin
        self._max_bytes = settings.request_max_bytes
        self._running = DoorCalls(group, "a2a call")

    async def card(self, request: DoorRequest) -> Response:
        """In the form of the version that is named; where none of ours is, in both forms."""
        path, form = request.http.path, None
        with suppress(VersionNotSupported):
            form = version_of(request.http) if request.http.header_values(VERSION_HEADER) else None
        await request.caller.workspace()  # what is stored of the Agent is only for callers who may still come in
        url = f"{self._origin}/a2a/{path['workspaceId']}/{path['agentId']}"
        return json_response(200, agent_card(await request.caller.agent(path["agentId"]), url, form))

    async def call(self, request: DoorRequest) -> RouteAnswer:
        request_id: RequestId = None
        try:
            version = version_of(request.http)
            rpc = read_envelope(await _body(request.http, self._max_bytes))
            request_id = _bounded(rpc.id)
            operation = OPERATIONS[version].get(rpc.method, MethodNotFound)
            if isinstance(operation, type):
                raise operation
            return await operation(A2ACall(request, rpc, version, self._running))
        except RpcFault as fault:
            # A caller that may not come in learns nothing but that, not even how a request must be written.
            await request.caller.workspace()
            data = error_data(fault, {"traceId": request.http.trace_id})
            if fault.request_id is not None:
                with suppress(MalformedRequest):
                    request_id = _bounded(fault.request_id)
            return Response(fault.status, failure(request_id, fault, data), (JSON,))
        except GatewayFault as fault:
            if is_answered_by_http(fault):
                raise
            return _refusal(request, request_id, fault)


def _bounded(request_id: RequestId) -> RequestId:
    """Every event of a stream repeats it."""
    if isinstance(request_id, str) and len(request_id) > MAX_ID:
        raise MalformedRequest(f"The id is longer than {MAX_ID} characters")
    if isinstance(request_id, int) and request_id.bit_length() > _ID_BITS:
        raise MalformedRequest(f"The id has more than {_ID_BITS} bits")
    return request_id


async def _body(http: Request, limit: int) -> bytes:
    try:
        require_json_type(http)
    except InvalidRequest:
        raise BodyNotJson from None
    return await read_bytes(http, limit)


def version_of(request: Request) -> A2AVersion:
    """No header, or an empty one, means 0.3. The patch of a version number is not looked at."""
    values = request.header_values(VERSION_HEADER)
    if not values or values == (b"",):
        return A2AVersion.V0_3
    match = _VERSION.fullmatch(values[0].strip()) if len(values) == 1 else None
    try:
        return A2AVersion(match[1].decode() if match else "")
    except ValueError:
        raise VersionNotSupported from None


def _refusal(request: DoorRequest, request_id: RequestId, fault: GatewayFault) -> Response:
    request.ran(fault.trace_id, fault.invocation_id)
    refused, facts = rpc_fault(fault), {"traceId": request.http.trace_id, **facts_of(fault)}
    body = failure(request_id, refused, error_data(refused, facts, fault.violations))
    return Response(200, body, (JSON,), fault.code, fault.reason)
