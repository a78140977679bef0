"""Checks a running Agent against the A2A profile and the credential rules, as the Router will meet it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from aop.a2a import requests
from aop.a2a.answers import MESSAGE_OR_TASK, TASK, AgentFault, read_kind
from aop.a2a.judge import AgentCanceled, StreamRules, TrackedTask, is_running, values_of
from aop.a2a.rpc import rpc_request
from aop.a2a.v0_3 import Message, Task
from aop.agent.check.attacks import attacks
from aop.agent.check.exchange import AgentExchange, CheckFailed, Write, example, require, require_rejection
from aop.agent.guard.card import PUBLIC_CARD_PATH
from aop.agent.testing import SignedRequest, SignedRouter
from aop.base.ids import new_id
from aop.base.json import NOT_READ
from aop.contracts.card import AgentCard, Skill
from aop.net.http import HttpError
from aop.net.origin import Endpoint
from aop.net.sse import EventTooLarge

UNKNOWN_TASK: Final = -32001
NOT_CANCELABLE: Final = -32002
UNKNOWN_METHOD: Final = -32601

_SECONDS: Final = 10.0
_FOLLOW_SECONDS: Final = 0.1
_QUESTION: Final = requests.get_task("1", "none")
"""About a Task that does not exist, so that whatever is done with it starts nothing."""

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
            ("unknown method: JSON-RPC error -32601", self._refusal(_unknown_method, UNKNOWN_METHOD)),
            ("tasks/get of an unknown task: -32001", self._refusal(_about(requests.get_task, "none"), UNKNOWN_TASK)),
            (
                "tasks/cancel of an unknown task: -32001",
                self._refusal(_about(requests.cancel_task, "none"), UNKNOWN_TASK),
            ),
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
        except (CheckFailed, AgentFault, AgentCanceled) as problem:
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
        except NOT_READ:
            card = {}
        require(
            answer.status == 200 and {"name", "url", "skills"} <= card.keys(), "no public card with name, url, skills"
        )

    async def _unknown_challenge(self) -> None:
        answer = await self._exchange.get(f"/.well-known/platform/challenges/{new_id('chal')}")
        require(answer.status == 404, f"status {answer.status} instead of 404")

    def _attack(self, make: Callable[[Any], SignedRequest], status: int) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            draft = self._router.draft(_QUESTION, parent=new_id("inv"))
            require_rejection(await self._exchange.post(make(draft)), status)

        return check

    async def _replay(self) -> None:
        request = self._router.request(_QUESTION)
        require((await self._exchange.post(request)).status == 200, "a good request is not accepted")
        require_rejection(await self._exchange.post(request), 401)

    async def _unburnt(self) -> None:
        request = self._router.request(_QUESTION)
        require_rejection(await self._exchange.post(SignedRequest(request.headers, request.body + b"\n")), 403)
        require((await self._exchange.post(request)).status == 200, "a refused request burnt the credential")

    def _refusal(self, write: Write, *codes: int) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            try:
                await self._exchange.call(write)
            except AgentFault as fault:
                if fault.rpc_code is None:
                    raise
                require(fault.rpc_code in codes, f"JSON-RPC error {fault.rpc_code} instead of {codes[0]}")
            else:
                raise CheckFailed("answered with a result")

        return check

    async def _text_message(self) -> None:
        skill = self._subject.card.skills[0]
        try:
            read_kind(await self._exchange.call(_saying(requests.send, b'"hello"'), skill.id), MESSAGE_OR_TASK)
        except AgentFault as fault:
            if fault.rpc_code is None:  # a refusal is an answer, too
                raise

    def _send(self, skill: Skill) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            sent = await self._exchange.call(_saying(requests.send, self._input(skill)), skill.id)
            answer = read_kind(sent, MESSAGE_OR_TASK)
            if isinstance(answer, Message):
                self._require_conform(skill, values_of(answer))
            elif isinstance(answer, Task):
                self._require_conform(skill, values_of(await self._followed(answer, skill.id)))
                await self._refusal(_about(requests.cancel_task, answer.id), NOT_CANCELABLE, UNKNOWN_TASK)()

        return check

    async def _followed(self, found: Task, capability: str) -> Task:
        """The Task once it is completed, as the Agent shows it when it is asked again."""
        first, task = found.id, TrackedTask("")
        async with asyncio.timeout(self._subject.seconds):
            while is_running(found.status.state, task):
                await asyncio.sleep(_FOLLOW_SECONDS)
                found = await self._read_task(first, capability)
        return await self._read_task(first, capability)

    async def _read_task(self, task_id: str, capability: str) -> Task:
        found = read_kind(await self._exchange.call(_about(requests.get_task, task_id), capability), TASK)
        if not isinstance(found, Task) or found.id != task_id:
            raise CheckFailed("tasks/get answers with another task")
        return found

    def _stream(self, skill: Skill) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            rules, sent = StreamRules(TrackedTask("")), _saying(requests.stream, self._input(skill))
            async with aclosing(self._exchange.stream(sent, skill.id)) as results:
                async for result in results:
                    for chunk in rules.take(result):
                        self._require_conform(skill, (chunk,))
                    if rules.completed:
                        return
            rules.end()

        return check

    def _input(self, skill: Skill) -> bytes:
        found = self._subject.inputs.get(skill.id) or example(skill)
        if found is None:
            raise CheckFailed("no input to try: give one, or add `examples` to the inputSchema")
        return found.strip()

    def _require_conform(self, skill: Skill, values: Iterable[bytes]) -> None:
        """One of the values that the answer may stand for must."""
        conforms, schema = self._subject.conforms, bytes(skill.output_schema)
        if conforms is not None:
            found = any(conforms(schema, msgspec.json.decode(value)) for value in values)
            require(found, "the value breaks the outputSchema")


def _unknown_method(request_id: str) -> bytes:
    return rpc_request(request_id, "tasks/none", {"id": "x"})


def _about(write: Callable[[str, str], bytes], task_id: str) -> Write:
    return lambda request_id: write(request_id, task_id)


def _saying(write: Callable[[str, str, bytes], bytes], content: bytes) -> Write:
    return lambda request_id: write(request_id, new_id("inv"), content)
