"""A bearer is judged at the head of its request: strangers take nothing from callers, and are told nothing but 401."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import pytest

from aop.base.settings import Secret
from aop.contracts.errors import ErrorCode, Overloaded
from aop.door.bearers import Bearer, Judgements
from aop.door.faults import GatewayFault
from tests.support.agent import a_message, data
from tests.support.callers import connected
from tests.support.door import OpenDoor, running_door
from tests.support.loop import CAPABILITY, SPACE
from tests.support.metrics import numbers
from tests.support.units import Headers
from tests.support.waiting import patience

pytestmark = pytest.mark.asyncio(loop_scope="module")

A2A: Final = f"/a2a/{SPACE}/acme:agent"
MCP: Final = f"/mcp/{SPACE}"
PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
TYPE: Final = (b"content-type", b"application/json")
ACCEPT: Final = (b"accept", b"application/json, text/event-stream")
BODIES: Final = (b"{", b"[]", b'{"jsonrpc":"2.0","id":"1"}', b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', PING)


@asynccontextmanager
async def slow_body(port: int, path: str, token: str) -> AsyncIterator[asyncio.StreamReader]:
    """A request whose body is announced and does not come."""
    lines = [f"POST {path} HTTP/1.1", f"host: 127.0.0.1:{port}", f"authorization: Bearer {token}"]
    lines += ["content-type: application/json", "content-length: 900000", "", ""]
    async with connected(port) as sock:
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write("\r\n".join(lines).encode())
        try:
            yield reader
        finally:
            writer.close()


async def status_of(reader: asyncio.StreamReader) -> int:
    async with patience():
        return int((await reader.readline()).split()[1])


async def invoke(door: OpenDoor) -> int:
    door.platform.agent.script(a_message(data({"n": 1})))
    part = {"kind": "data", "data": {}}
    message = {"kind": "message", "role": "user", "messageId": "m-1", "parts": [part], "metadata": {}}
    params = {"message": message, "metadata": {"skillId": CAPABILITY}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
    return (await door.unit.ask("POST", A2A, body, headers=[door.authorization])).status


async def questions(door: OpenDoor) -> float:
    """How often the Gateway was asked whom a bearer stands for."""
    found = await numbers(door.platform.gateway, "aop_http_requests_total")
    return sum(value for labels, value in found.items() if "/v1/me" in labels)


@pytest.mark.rows("SOUND-03")
@pytest.mark.parametrize("path", [A2A, MCP])
async def test_strangers_who_never_send_their_body_take_no_place(door: OpenDoor, path: str) -> None:
    async with running_door(door.platform, PLATFORM_DOOR_MAX_IN_FLIGHT_CALLS="1") as small, AsyncExitStack() as opened:
        for number in range(8):
            token = f"aop_invented{number}"
            stranger = await opened.enter_async_context(slow_body(small.unit.port, path, token))
            assert await status_of(stranger) == 401
            assert await invoke(small) == 200


@pytest.mark.rows("SOUND-03", "SOUND-04", "DOOR-05")
@pytest.mark.parametrize("path", [A2A, MCP, f"/a2a/nowhere/{secrets.token_hex(200)}", "/mcp/no%20space"])
async def test_a_refused_bearer_is_told_nothing_but_that(door: OpenDoor, path: str) -> None:
    said: Sequence[Headers] = (
        (TYPE, ACCEPT),
        ((b"content-type", b"text/plain"), ACCEPT),
        (TYPE, (b"accept", b"text/html")),
        (TYPE, ACCEPT, (b"a2a-version", b"9.9")),
        (TYPE, ACCEPT, (b"mcp-protocol-version", b"9999"), (b"mcp-session-id", b"1")),
    )
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % 2**64
    for body in (*BODIES, cancelled, b"", b"[" * 100_000):
        for headers in said:
            reply = await door.unit.ask("POST", path, body, token="aop_invented", headers=headers)
            assert (reply.status, reply.code) == (401, "UNAUTHENTICATED"), (body[:40], headers)
            assert reply.header("www-authenticate") == "Bearer"


@pytest.mark.rows("SOUND-03")
async def test_the_gateway_is_asked_once_about_a_bearer_in_some_seconds(door: OpenDoor) -> None:
    async with running_door(door.platform) as fresh:
        for headers, status in ([fresh.authorization], 200), ([(b"authorization", b"Bearer aop_invented")], 401):
            before = await questions(fresh)
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(fresh.unit.ask("POST", MCP, PING, headers=[*headers, TYPE, ACCEPT]))
                    for _ in range(20)
                ]
            assert {task.result().status for task in tasks} == {status}
            assert await questions(fresh) == before + 1


class Judge:
    """A Gateway that answers when it is told to."""

    def __init__(self, code: ErrorCode | None = None, trace_id: str | None = None) -> None:
        self.code, self.trace_id, self.number = code, trace_id, 0
        self.answers = asyncio.Event()
        self.questions: asyncio.Queue[int] = asyncio.Queue()

    async def __call__(self, _: Bearer) -> None:
        self.number += 1
        self.questions.put_nowait(self.number)
        await self.answers.wait()
        if self.code is not None:
            fault = GatewayFault(self.code)
            fault.trace_id = self.trace_id
            raise fault


def bearer(text: str) -> Bearer:
    return Bearer(Secret(text))


async def begun(judgements: Judgements, gateway: Judge, tokens: Sequence[str]) -> list[asyncio.Task[None]]:
    """Until the Gateway was asked about each."""
    tasks = [asyncio.create_task(judgements.require(bearer(token))) for token in tokens]
    async with patience():
        for _ in tokens:
            await gateway.questions.get()
    return tasks


@pytest.mark.rows("SOUND-03")
async def test_beside_as_many_questions_as_there_may_be_a_stranger_is_refused_and_a_known_bearer_is_not() -> None:
    gateway = Judge()
    gateway.answers.set()
    judgements = Judgements(gateway, places=8, seconds=0)
    known = [f"known{number}" for number in range(3)]
    for token in known:
        await judgements.require(bearer(token))
    gateway.answers.clear()
    gateway.questions = asyncio.Queue()
    strangers = await begun(judgements, gateway, [f"stranger{number}" for number in range(6)])
    with pytest.raises(Overloaded):
        await judgements.require(bearer("one more"))
    callers = await begun(judgements, gateway, known[:2])
    with pytest.raises(Overloaded):
        await judgements.require(bearer(known[2]))
    gateway.answers.set()
    await asyncio.gather(*strangers, *callers)
    await judgements.require(bearer("one more"))


@pytest.mark.rows("SOUND-03")
@pytest.mark.parametrize(
    ("code", "number"), [(ErrorCode.UNAUTHENTICATED, 1), (ErrorCode.DEPENDENCY_ERROR, 2), (ErrorCode.OVERLOADED, 2)]
)
async def test_a_refusal_is_remembered_for_a_moment_and_a_failure_never(code: ErrorCode, number: int) -> None:
    gateway = Judge(code)
    gateway.answers.set()
    judgements = Judgements(gateway, 8)
    for _ in range(2):
        with pytest.raises(GatewayFault) as refused:
            await judgements.require(bearer("stranger"))
        assert refused.value.code is code
    assert gateway.number == number


@pytest.mark.rows("SOUND-03")
async def test_all_who_wait_for_one_question_are_told_of_its_failure_in_a_fault_of_their_own() -> None:
    """The trace that the Gateway named is that of the one who asked."""
    gateway = Judge(ErrorCode.DEPENDENCY_ERROR, "0" * 31 + "1")
    judgements = Judgements(gateway, 8)
    (asking,) = await begun(judgements, gateway, ["shared"])
    waiting = [asyncio.create_task(judgements.require(bearer("shared"))) for _ in range(3)]
    await asyncio.sleep(0)
    gateway.answers.set()
    faults = await asyncio.gather(asking, *waiting, return_exceptions=True)
    assert all(isinstance(fault, GatewayFault) and fault.code is gateway.code for fault in faults)
    assert len(set(map(id, faults))) == len(faults)
    assert [getattr(fault, "trace_id", "") for fault in faults] == [gateway.trace_id, None, None, None]


async def test_one_who_leaves_takes_the_question_from_no_other() -> None:
    gateway = Judge()
    judgements = Judgements(gateway, 8)
    (leaving,) = await begun(judgements, gateway, ["shared"])
    staying = asyncio.create_task(judgements.require(bearer("shared")))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait({leaving})
    gateway.answers.set()
    await staying
    assert gateway.number == 1


async def test_what_is_remembered_holds_no_token() -> None:
    gateway = Judge()
    gateway.answers.set()
    judgements = Judgements(gateway, 8)
    await judgements.require(bearer("a-secret-text"))
    assert "a-secret-text" not in f"{vars(judgements)} {vars(judgements._answers)} {bearer('a-secret-text')}"
