"""One verified request of the Router to one Agent behind the front: the four methods of the profile."""

import asyncio
from typing import Final

import msgspec

from aop.a2a.dialect import Dialect, Question
from aop.a2a.rpc import (
    DataPart,
    InvalidParams,
    MessageConfiguration,
    MessageParams,
    RpcRequest,
    StreamingNotSupported,
    TaskNotFound,
    TaskParams,
    TextPart,
    UserMessage,
    read_params,
    success,
)
from aop.a2a.v0_3 import AgentResult, AgentStatus, Kind, TaskState
from aop.agent.guard.guard import JSON, respond
from aop.agent.server.call_log import LoggedCall
from aop.agent.server.methods import STREAM
from aop.contracts.credential import CredentialClaims
from aop.contracts.delegation import DELEGATION_HEADER
from aop.front.agent import FrontedAgent
from aop.front.conversation import Conversation
from aop.front.delivery import Delivery
from aop.front.faults import UpstreamFault
from aop.front.limits import FrontMemory
from aop.front.routes import ACCEPT, HttpRoutes
from aop.front.running import EndOnLeaving, RunningCall
from aop.front.upstream import UpstreamRequest
from aop.net.asgi import Scope, Send
from aop.net.headers import TRACEPARENT, HeaderMap, read_traceparent
from aop.net.http import Headers
from aop.net.own_server import own_server

_DELEGATION: Final = DELEGATION_HEADER.encode()


class FrontCall(msgspec.Struct, eq=False):
    agent: FrontedAgent
    log: LoggedCall[CredentialClaims]
    request: RpcRequest
    sent: HeaderMap
    scope: Scope
    send: Send
    memory: FrontMemory

    def __repr__(self) -> str:
        return "FrontCall()"

    async def through(self, dialect: Dialect) -> None:
        """A message to an Agent that speaks A2A, of whatever version."""
        agent, request = self.agent, self.request
        question, call = self._question(), RunningCall(agent.running, self.log.context.workspace_id)
        trace_headers, held, kept = self._trace_headers(), self.memory.held(), self.memory.held()
        headers = (*trace_headers, *self._delegation_headers())
        conversation = Conversation(agent, dialect, call, request.id, question, headers, self._deadline(), held)
        delivery, left = self._delivery(), EndOnLeaving(own_server(self.scope).disconnect, call)
        try:
            with left:
                if request.method == STREAM:
                    await delivery.stream(conversation.events())
                elif agent.card.limits.streaming:
                    await delivery.whole(await conversation.assembled(kept))
                else:
                    await delivery.whole(await conversation.answer())
            self.log.record("left" if left.happened else call.state or "ok")
        except UpstreamFault as fault:
            call.cancel_sent = call.cancel_sent or not fault.leaves_task
            self.log.record("failed", fault)
            await delivery.fault(fault)
        finally:
            held.keep(0)
            kept.keep(0)
            agent.end(call, trace_headers)

    async def through_route(self, routes: HttpRoutes) -> None:
        """A message to a plain HTTP service. If the caller leaves, so does the front: there is no other cancel."""
        question, delivery = self._question(), self._delivery()
        left = EndOnLeaving(own_server(self.scope).disconnect, None)
        with self.memory.held() as held:
            request = UpstreamRequest(
                _input(question),
                ACCEPT,
                self._deadline(),
                self.agent.card.limits.max_output_bytes,
                (*self._trace_headers(), *self._delegation_headers()),
                routes.paths[question.skill_id],
            )
            try:
                with left:
                    state, task = await routes.task(self.agent.upstream, request, held)
                    await delivery.whole(success(self.request.id, task))
                self.log.record("left" if left.happened else state)
            except UpstreamFault as fault:
                self.log.record("failed", fault)
                await delivery.fault(fault)

    async def get(self) -> None:
        call = self._running()
        await self._answer(success(self.request.id, _document(call, call.state or TaskState.SUBMITTED)))

    async def cancel(self) -> None:
        """The Agent's own answer to the one cancel; a second one does not reach it."""
        call, dialect = self._running(), self.agent.speaks
        if call.cancel_sent or isinstance(dialect, HttpRoutes):
            await self._answer(success(self.request.id, _document(call, TaskState.CANCELED)))
            return
        try:
            with self.memory.held() as held:
                seen = await self.agent.cancel(dialect, call, self.request.id, self._trace_headers(), held)
        except UpstreamFault as fault:
            self.log.record("failed", fault)
            await self._delivery().fault(fault)
            return
        # An error is passed on as it is; of a Task only its state, because results go to those who wait for them.
        state = None if seen.result is None else seen.result.state
        await self._answer(seen.text if state is None else success(self.request.id, _document(call, state)))

    def _delivery(self) -> Delivery:
        return Delivery(self.scope, self.send, self.agent.card.limits.max_output_bytes)

    async def _answer(self, body: bytes) -> None:
        self.log.record("ok")
        await respond(self.send, 200, [JSON], body)

    def _running(self) -> RunningCall:
        task_id = read_params(self.request.params, TaskParams).id
        call = self.agent.running.find(self.log.context.workspace_id, task_id)
        if call is None:
            raise TaskNotFound
        return call

    def _question(self) -> Question:
        if self.request.method == STREAM and not self.agent.card.limits.streaming:
            raise StreamingNotSupported
        params = read_params(self.request.params, MessageParams)
        (params.configuration or MessageConfiguration()).require_supported()
        message = read_params(params.message, UserMessage)
        if message.task_id is not None:
            raise TaskNotFound  # the front remembers none
        skill_id = self.agent.own_id(self.log.context.capability)
        if skill_id is None:
            raise InvalidParams("The Card has no such Skill")
        return Question(message.message_id, message.parts, skill_id, message.context_id)

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self.agent.seconds

    def _trace_headers(self) -> Headers:
        parent = self.sent.single(TRACEPARENT)
        return () if parent is None or read_traceparent(parent) is None else ((TRACEPARENT, parent),)

    def _delegation_headers(self) -> Headers:
        delegation = self.sent.single(_DELEGATION) if self.agent.forwards_delegation else None
        return () if delegation is None else ((_DELEGATION, delegation),)


def _input(question: Question) -> bytes:
    """The input of the Skill as JSON: the Router sends exactly one part."""
    part = question.parts[0]
    if isinstance(part, DataPart):
        return bytes(part.data)
    if isinstance(part, TextPart):
        return msgspec.json.encode(part.text)
    raise InvalidParams("A service takes data or text")


def _document(call: RunningCall, state: str) -> bytes:
    """The Task as it is; its results go to those who wait for them."""
    task_id = call.task_id or ""
    status = AgentStatus(state)
    return msgspec.json.encode(AgentResult(Kind.TASK, id=task_id, context_id=call.context_id or task_id, status=status))
