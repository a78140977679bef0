"""The Router gets a lone call while the Gateway reads whether it is permitted, and its last byte after that."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from tests.net.http_wire import scripted_peer
from tests.support.errors import require_error
from tests.support.loop import SPACE, Changes, Platform, gateway_alone
from tests.support.postgres import PostgresForTests, session
from tests.support.waiting import becomes_true

HEAD_END = b"\r\n\r\n"


@dataclass
class WaitingRouter:
    """A Router that succeeds in whatever is dispatched. `begun` counts what came, `bodies` are what came whole."""

    begun: int = 0
    bodies: list[dict[str, object]] = field(default_factory=list)
    dropped: int = 0

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(HEAD_END)
            size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            first = await reader.readexactly(size - 1)
            self.begun += 1
            try:
                body = json.loads(first + await reader.readexactly(1))
            except (asyncio.IncompleteReadError, ConnectionError):
                self.dropped += 1
                return
            self.bodies.append(body)
            ids = {name: body[name] for name in ("invocationId", "rootTaskId", "traceId")}
            result = json.dumps({"schemaVersion": "1", **ids, "status": "succeeded", "result": 1}).encode()
            lines = (
                "HTTP/1.1 200 OK",
                "content-type: application/json",
                f"content-length: {len(result)}",
                f"x-platform-trace-id: {ids['traceId']}",
                f"x-platform-invocation-id: {ids['invocationId']}",
                f"x-platform-root-task-id: {ids['rootTaskId']}",
            )
            writer.write("\r\n".join(lines).encode() + HEAD_END + result)

    async def has(self, begun: int) -> None:
        async def came() -> bool:
            return self.begun >= begun

        await becomes_true(came)


@pytest.fixture
def router() -> WaitingRouter:
    return WaitingRouter()


@pytest_asyncio.fixture
async def gateway(postgres: PostgresForTests, router: WaitingRouter) -> AsyncIterator[Platform]:
    stores = await postgres.new_platform()
    patient = Changes(control_plane={"PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS": "60000"})
    async with scripted_peer(router.meet) as peer, gateway_alone(stores, peer.port, patient) as alone:
        for _ in range(2):  # from here on there is a connection, and something to expect
            assert (await alone.invoke()).status == 200
        yield alone


@pytest.mark.rows("INV-01")
async def test_a_dispatch_is_completed_once_the_call_is_permitted(
    gateway: Platform, router: WaitingRouter, postgres: PostgresForTests
) -> None:
    async with session(postgres.url(gateway.stores.migration.rpartition("/")[2])) as other, other.transaction():
        await other.execute("LOCK TABLE workspace.installation IN ACCESS EXCLUSIVE MODE")
        calling = asyncio.create_task(gateway.invoke())
        await router.has(3)
        assert len(router.bodies) == 2, "nothing is dispatched before the store has answered"
    assert (await calling).status == 200
    assert (len(router.bodies), router.dropped) == (3, 0)


@pytest.mark.rows("INV-09")
async def test_the_router_never_gets_all_of_a_call_that_is_permitted_no_more(
    gateway: Platform, router: WaitingRouter
) -> None:
    installation = (await gateway.owner.pages(f"/{SPACE}/installations", 10))[0][0]["installationId"]
    await gateway.owner.set_status(installation, "disabled")
    for _ in range(2):
        require_error(await gateway.invoke(), 409, "INSTALLATION_DISABLED", "4")
    await router.has(3)
    assert len(router.bodies) == 2
    await gateway.owner.set_status(installation, "enabled")
    assert (await gateway.invoke()).status == 200
    assert (router.begun, router.dropped, len(router.bodies)) == (4, 1, 3), "the second was not even begun"


@pytest.mark.rows("INV-09")
async def test_what_is_dispatched_follows_from_what_was_read_for_this_call(
    gateway: Platform, router: WaitingRouter
) -> None:
    installation = (await gateway.owner.pages(f"/{SPACE}/installations", 10))[0][0]["installationId"]
    await gateway.owner.uninstall(installation)
    await gateway.owner.install(gateway.card["agentId"], accepted=[])
    assert (await gateway.invoke()).status == 200
    assert (router.begun, router.dropped, len(router.bodies)) == (4, 1, 3)
    digests = [body["authorizationDigest"] for body in router.bodies]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.rows("INV-06")
async def test_the_router_never_gets_all_of_a_call_that_is_refused(gateway: Platform, router: WaitingRouter) -> None:
    require_error(await gateway.invoke(b"[]"), 400, "VALIDATION_ERROR", "4")
    require_error(await gateway.invoke(headers=[(b"accept", b"text/html")]), 406, "NOT_ACCEPTABLE", "4")
    assert len(router.bodies) == 2
    assert (await gateway.invoke()).status == 200
    assert len(router.bodies) == 3
