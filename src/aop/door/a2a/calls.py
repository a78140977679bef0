"""The operations of A2A on one installed Agent: each is at most one Invocation, or reads of the Ledger."""

import asyncio
from dataclasses import dataclass
from typing import Final

from aop.a2a.messages import IncomingMessage, read_message
from aop.a2a.rpc import InvalidParams, RpcRequest, TaskNotCancelable, TaskNotFound, TaskParams, read_params, success
from aop.a2a.v0_3 import TaskState
from aop.a2a.versions import A2AVersion
from aop.a2a.writing import FORMS, A2AForm, TaskView
from aop.base.ids import is_safe_identifier
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import TERMINAL_STATUSES, InvocationRecord, InvocationStatus
from aop.door.a2a.errors import OperationNotSupported
from aop.door.a2a.views import failed_view, recorded_view, view_of
from aop.door.faults import GatewayFault
from aop.door.gateway import DoorCaller
from aop.door.request import DoorRequest
from aop.door.running import CallKey, DoorCalls
from aop.serving.edge.response import JSON, Response

SETTLING_SECONDS: Final = 10.0
"""How long a canceled call waits until the Ledger has the end of its Invocation."""
CLOSING_SECONDS: Final = 10.0
"""How long another worker may take to end a call. Of one that takes longer it is not known that it ended."""
_POLL_SECONDS: Final = 0.05
_UNCERTAIN: Final = frozenset({Reason.OUTCOME_UNKNOWN, Reason.ACCEPTANCE_UNKNOWN})
_NO_SUCH_TASK: Final = frozenset({ErrorCode.NOT_FOUND, ErrorCode.VALIDATION_ERROR})


@dataclass(slots=True, eq=False)
class A2ACall:
    """One request of a caller, and what all requests share."""

    request: DoorRequest
    rpc: RpcRequest
    version: A2AVersion
    running: DoorCalls

    @property
    def caller(self) -> DoorCaller:
        return self.request.caller

    @property
    def agent_id(self) -> str:
        return self.request.http.path["agentId"]

    @property
    def form(self) -> A2AForm:
        return FORMS[self.version]

    def key(self, invocation_id: str) -> CallKey:
        """Only for the bearer that started the call, and only under the address that it was started at."""
        return self.caller.bearer, self.caller.workspace_id, self.agent_id, invocation_id

    async def send(self) -> Response:
        """Waits for the end whatever the configuration says: the answer is the only place for the result."""
        message = read_message(self.version, self.rpc.params)
        skill_id = message.skill_id or await self.only_skill()
        view, value = await self.run(message, skill_id)
        return self._result(self.form.sent(self.form.task(view, value, history=message.history_length)))

    async def get(self) -> Response:
        """The state that the Ledger has. Artifacts are nowhere but in the answer to the call."""
        params = self._task_params()
        record = await self._record(params.id)
        context_id = await self._context_of_stream(params.id, cancel=False)
        view = recorded_view(record, context_id or params.id)
        return self._result(self.form.task(view, history=params.history_length))

    async def cancel(self) -> Response:
        """Ends a call that streams in this door, and says what the Ledger then has."""
        params = self._task_params()
        context_id = await self._context_of_stream(params.id, cancel=True)
        if not context_id:
            raise TaskNotFound
        record = await settled(self.caller, params.id)
        if record.status in TERMINAL_STATUSES and record.status is not InvocationStatus.CANCELED:
            raise TaskNotCancelable
        return self._result(self.form.task(recorded_view(record, context_id)))

    async def resubscribe(self) -> Response:
        """Not offered, because no event of a stream is stored. A Task that does not exist is named as such."""
        await self._record(self._task_params().id)
        raise OperationNotSupported

    async def only_skill(self) -> str:
        """For a message that names none."""
        usable = [skill.id for skill in (await self.caller.agent(self.agent_id)).skills]
        if len(usable) != 1:
            known = ", ".join(usable) or "it has none that may be used"
            raise InvalidParams(f"metadata.skillId must name a Skill of this Agent: {known}")
        return usable[0]

    async def run(self, message: IncomingMessage, skill_id: str) -> tuple[TaskView, bytes | None]:
        """One Invocation in JSON mode, and its value if it has one. Raises unless its outcome is certain."""
        try:
            result = await self.caller.invoke(self.agent_id, skill_id, message.input)
        except GatewayFault as fault:
            return self.failed(fault, message), None
        self.request.ran(result.trace_id, result.invocation_id)
        context_id = message.context_id or result.invocation_id
        return view_of(result.invocation_id, context_id, TaskState.COMPLETED, result.trace_id), bytes(result.result)

    def failed(self, fault: GatewayFault, message: IncomingMessage) -> TaskView:
        """The end of an Invocation that was accepted. Raises what is none: nothing began, or the end is unknown."""
        if fault.invocation_id is None or fault.reason in _UNCERTAIN:
            raise fault
        self.request.ran(fault.trace_id, fault.invocation_id)
        return failed_view(fault.invocation_id, message.context_id or fault.invocation_id, fault)

    async def _context_of_stream(self, invocation_id: str, *, cancel: bool) -> str:
        """Empty unless it streams in a worker of this door. After a cancel nothing of it runs in any worker."""
        answer = await self.running.ask(self.key(invocation_id), cancel=cancel, seconds=CLOSING_SECONDS)
        return answer.decode()

    def _task_params(self) -> TaskParams:
        """Of a Task whose id may be one: all workers are shown it."""
        params = read_params(self.rpc.params, TaskParams)
        if not is_safe_identifier(params.id):
            raise TaskNotFound
        return params

    async def _record(self, invocation_id: str) -> InvocationRecord:
        try:
            record = (await self.caller.invocation(invocation_id)).invocation
        except GatewayFault as fault:
            if fault.code in _NO_SUCH_TASK and fault.reason is not Reason.WORKSPACE_UNKNOWN:
                raise TaskNotFound from fault
            raise
        if record.target_agent_id != self.agent_id:
            raise TaskNotFound
        return record

    def _result(self, content: bytes) -> Response:
        return Response(200, success(self.rpc.id, content), (JSON,))


async def settled(caller: DoorCaller, invocation_id: str) -> InvocationRecord:
    """What the Ledger has once the Invocation ended, or after a while: a closed connection ends it, but not at once."""
    deadline = asyncio.get_running_loop().time() + SETTLING_SECONDS
    while True:
        record = (await caller.invocation(invocation_id)).invocation
        if record.status in TERMINAL_STATUSES or asyncio.get_running_loop().time() > deadline:
            return record
        await asyncio.sleep(_POLL_SECONDS)
