"""Checks a running Agent against the A2A profile and the credential rules, as the Router will meet it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from aop.a2a.answers import AgentFault
from aop.a2a.v0_3 import RUNNING, Task, TaskState
from aop.agent.check import profile
from aop.agent.check.attacks import attacks
from aop.agent.check.exchange import (
    AgentExchange,
    CheckFailed,
    example,
    input_part,
    message,
    query,
    require,
    require_rejection,
)
from aop.agent.check.profile import RpcRefused, StreamJudge
from aop.agent.guard.card import PUBLIC_CARD_PATH
from aop.agent.testing import SignedRequest, SignedRouter
from aop.base.ids import new_id
from aop.contracts.card import AgentCard, Skill
from aop.net.http import HttpError
from aop.net.origin import Endpoint
from aop.net.sse import EventTooLarge

UNKNOWN_TASK: Final = -32001
NOT_CANCELABLE: Final = -32002
UNKNOWN_METHOD: Final = -32601

_SECONDS: Final = 10.0
_FOLLOW_SECONDS: Final = 0.1

Conforms = Callable[[bytes, Any], bool]
"""Whether a value follows a JSON Schema, given as its text."""


@dataclass(frozen=True)
class CheckResult:
    """One row of the report; `problem` is None when the check passed."""

    name: str
    problem: str | None


@dataclass(frozen=True)
class Subject:
    """The Agent to check: its endpoint, its Card, and an input per Skill that it should be able to serve.

    `tls` is how its certificate is checked; None for the certifi roots.
    """

    endpoint: Endpoint
    card: AgentCard
    inputs: Mapping[str, bytes]
    conforms: Conforms | None = None
    tls: ssl.SSLContext | None = None

    @property
    def seconds(self) -> float:
        return self.card.limits.timeout_ms / 1000 + _SECONDS


class AgentCheck:
    """All checks of one Agent; a check that cannot go on becomes a result, never an exception."""

    def __init__(self, subject: Subject, router: SignedRouter) -> None:
        self._subject = subject
        self._router = router
        self._exchange = AgentExchange(subject.endpoint, router, subject.seconds, subject.tls)

    async def results(self) -> AsyncIterator[CheckResult]:
        try:
            for name, act in self._checks():
                yield CheckResult(name, await self._problem(act))
        finally:
            await self._exchange.close()

    def _checks(self) -> list[tuple[str, Callable[[], Awaitable[None]]]]:
        checks: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            ("serves its public card", self._public_card),
            ("serves no proof for an unknown challenge", self._unknown_challenge),
            *((f"rejects: {attack.name}", self._attack(attack.make, attack.status)) for attack in attacks()),
            ("rejects: replay", self._replay),
            ("accepts a credential that was refused with another body", self._unburnt),
            ("unknown method: JSON-RPC error -32601", self._refusal("tasks/none", {"id": "x"}, UNKNOWN_METHOD)),
            ("tasks/get of an unknown task: -32001", self._refusal("tasks/get", query("none"), UNKNOWN_TASK)),
            ("tasks/cancel of an unknown task: -32001", self._refusal("tasks/cancel", {"id": "none"}, UNKNOWN_TASK)),
            ("a text message is answered", self._text_message),
        ]
        for skill in self._subject.card.skills:
            checks.append((f"{skill.id}: message/send gives a result", self._send(skill)))
            if self._subject.card.limits.streaming:
                checks.append((f"{skill.id}: message/stream follows the profile", self._stream(skill)))
        return checks

    async def _problem(self, act: Callable[[], Awaitable[None]]) -> str | None:
        try:
            await act()
        except RpcRefused as refused:
            return f"answered with {refused}"
        except (CheckFailed, AgentFault) as problem:
            return str(problem)
        except EventTooLarge:
            return "an event of the stream is larger than 1 MiB"
        except HttpError as error:
            return f"no answer: {type(error).__name__} {error}"
        except TimeoutError:
            return "not finished within the Card's time limit"
        return None

    async def _public_card(self) -> None:
        answer = await self._exchange.get(PUBLIC_CARD_PATH)
        try:
            card = msgspec.json.decode(answer.body, type=dict[str, Any])
        except msgspec.DecodeError:
            card = {}
        require(
            answer.status == 200 and {"name", "url", "skills"} <= card.keys(), "no public card with name, url, skills"
        )

    async def _unknown_challenge(self) -> None:
        answer = await self._exchange.get(f"/.well-known/platform/challenges/{new_id('chal')}")
        require(answer.status == 404, f"status {answer.status} instead of 404")

    def _attack(self, make: Callable[[Any], SignedRequest], status: int) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            draft = self._router.draft(self._exchange.rpc("tasks/get", query("none"))[1], parent=new_id("inv"))
            require_rejection(await self._exchange.post(make(draft)), status)

        return check

    async def _replay(self) -> None:
        request = self._router.request(self._exchange.rpc("tasks/get", query("none"))[1])
        require((await self._exchange.post(request)).status == 200, "a good request is not accepted")
        require_rejection(await self._exchange.post(request), 401)

    async def _unburnt(self) -> None:
        request = self._router.request(self._exchange.rpc("tasks/get", query("none"))[1])
        require_rejection(await self._exchange.post(SignedRequest(request.headers, request.body + b"\n")), 403)
        require((await self._exchange.post(request)).status == 200, "a refused request burnt the credential")

    def _refusal(self, method: str, params: dict[str, Any], *codes: int) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            try:
                await self._exchange.call(method, params)
            except RpcRefused as refused:
                require(refused.code in codes, f"{refused} instead of {codes[0]}")
            else:
                raise CheckFailed("answered with a result")

        return check

    async def _text_message(self) -> None:
        params = message(b'{"kind":"text","text":"hello"}')
        try:
            profile.message_or_task(await self._exchange.call("message/send", params, self._subject.card.skills[0].id))
        except RpcRefused:
            return  # a refusal is an answer, too

    def _send(self, skill: Skill) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            params = message(input_part(self._input(skill)), blocking=True)
            found = profile.message_or_task(await self._exchange.call("message/send", params, skill.id))
            if isinstance(found, Task):
                found = await self._followed(found, skill.id)
            self._require_conform(skill, profile.result_value(found, partial(self._conforms, skill)))
            if isinstance(found, Task):
                await self._refusal("tasks/cancel", {"id": found.id}, NOT_CANCELABLE, UNKNOWN_TASK)()

        return check

    async def _followed(self, found: Task, capability: str) -> Task:
        task_id = found.id
        async with asyncio.timeout(self._subject.seconds):
            while found.status.state in RUNNING:
                await asyncio.sleep(_FOLLOW_SECONDS)
                found = profile.task(await self._exchange.call("tasks/get", query(task_id), capability))
        again = profile.task(await self._exchange.call("tasks/get", query(task_id), capability))
        require(found.id == again.id == task_id, "tasks/get answers with another task")
        require(found.status.state is TaskState.COMPLETED, f"the task ended {found.status.state}")
        return again

    def _stream(self, skill: Skill) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            judge, params = StreamJudge(), message(input_part(self._input(skill)))
            async for result in self._exchange.stream(params, skill.id):
                for chunk in judge.read(result):
                    self._require_conform(skill, chunk)
            judge.end()
            require(judge.state in {None, TaskState.COMPLETED}, f"the task ended {judge.state}")

        return check

    def _input(self, skill: Skill) -> bytes:
        found = self._subject.inputs.get(skill.id) or example(skill)
        if found is None:
            raise CheckFailed("no input to try: give one, or add `examples` to the inputSchema")
        return found

    def _require_conform(self, skill: Skill, value: Any) -> None:
        require(self._conforms(skill, value), "the value breaks the outputSchema")

    def _conforms(self, skill: Skill, value: Any) -> bool:
        conforms = self._subject.conforms
        return conforms is None or conforms(bytes(skill.output_schema), value)
