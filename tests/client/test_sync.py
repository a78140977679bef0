"""The synchronous client: the same calls from threads that have no event loop."""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from aop.client import AnswerLost, DeadlinePassed, InvocationFailed, PlatformError, StreamInterrupted, SyncClient
from aop.contracts.errors import ErrorCode
from aop.contracts.lineage import InvocationStatus
from tests.client.adder import AGENT, CAPABILITY
from tests.client.gateway import WORKSPACE, saying, scripted_gateway
from tests.support.agent import rpc_error
from tests.support.loop import Platform
from tests.support.peers import hold
from tests.support.streaming_agent import artifact, streamed, task
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience

pytestmark = pytest.mark.asyncio(loop_scope="module")

T = TypeVar("T")
NUMBERS = {"numbers": [1, 2, 3]}


async def using(platform: Platform, act: Callable[[SyncClient], T]) -> T:
    """In a thread, because the platform runs on this one's loop."""

    def run() -> T:
        with SyncClient(platform.gateway.origin, platform.token) as client:
            return act(client)

    return await asyncio.to_thread(run)


async def test_values_lists_and_pages_come_without_await(platform: Platform) -> None:
    def act(client: SyncClient) -> tuple[Any, ...]:
        assert client.read_workspace("demo").workspace_id == "demo"
        page = client.list_workspaces().page(limit=1)
        return [item.workspace_id for item in client.list_workspaces()], page.items[0].workspace_id, page.next_cursor

    every, first, cursor = await using(platform, act)
    assert "demo" in every
    assert first == every[0]
    assert cursor is not None


async def test_a_stream_is_a_plain_block_and_a_plain_loop(platform: Platform) -> None:
    def act(client: SyncClient) -> None:
        with client.stream("demo", AGENT, CAPABILITY, NUMBERS) as chunks:
            assert chunks.invocation_id is not None
            assert list(chunks) == [{"sum": 1}, {"sum": 3}, {"sum": 6}]
        assert chunks.terminal is not None
        assert (chunks.terminal.trace_id, chunks.terminal.root_task_id) == (chunks.trace_id, chunks.root_task_id)
        with client.stream("demo", AGENT, CAPABILITY, NUMBERS) as chunks:
            types = [event.type.value for event in chunks.events()]
        assert types == ["accepted", "chunk", "chunk", "chunk", "completed"]

    await using(platform, act)


async def test_leaving_the_block_cancels_the_invocation(platform: Platform) -> None:
    platform.agent.script(streamed(task(), artifact("first"), end="open"))

    def act(client: SyncClient) -> str | None:
        with client.stream("demo", AGENT, CAPABILITY, NUMBERS) as chunks:
            assert next(chunks) == "first"
        return chunks.invocation_id

    invocation_id = await using(platform, act)

    async def canceled() -> bool:
        found = await using(platform, lambda client: client.read_invocation("demo", str(invocation_id)))
        return found.invocation.status is InvocationStatus.CANCELED

    await becomes_true(canceled)


async def test_errors_are_the_same(platform: Platform) -> None:
    platform.agent.script(rpc_error(-32000))

    def act(client: SyncClient) -> None:
        with pytest.raises(PlatformError) as refused:
            client.read_workspace("nowhere")
        assert refused.value.code is ErrorCode.NOT_FOUND
        with pytest.raises(InvocationFailed):
            client.invoke("demo", AGENT, CAPABILITY, NUMBERS)

    await using(platform, act)


async def test_threads_share_one_client(platform: Platform) -> None:
    def act(client: SyncClient) -> list[Any]:
        with ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(client.invoke, "demo", AGENT, CAPABILITY, {"numbers": [n, 1]}) for n in range(24)]
            return [call.result().value["sum"] for call in calls]

    assert await using(platform, act) == [n + 1 for n in range(24)]


async def test_time_is_bounded_and_a_view_shares_the_connections() -> None:
    async with scripted_gateway(hold) as gateway:

        def late() -> None:
            with SyncClient(gateway.origin, "token") as client, pytest.raises(DeadlinePassed):
                client.within(0.1).read_workspace("demo")

        await asyncio.to_thread(late)
    async with scripted_gateway(saying(WORKSPACE)) as gateway:

        def twice() -> None:
            with SyncClient(gateway.origin, "token") as client:
                client.read_workspace("demo")
                client.within(5).read_workspace("demo")

        await asyncio.to_thread(twice)
        assert {request.connection for request in gateway.received} == {1}


async def test_a_client_starts_its_thread_with_the_first_call_and_ends_it_when_closed() -> None:
    before = threading.active_count()
    with SyncClient("http://127.0.0.1:1", "token") as client:
        assert threading.active_count() == before
    assert threading.active_count() == before
    for _ in range(2):
        client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.read_workspace("demo")


async def test_it_works_beside_a_running_loop_and_refuses_to_wait_for_itself() -> None:
    client: SyncClient

    def token() -> str:
        client.read_workspace("demo")
        return "never"

    with SyncClient("http://127.0.0.1:1", token) as client, pytest.raises(RuntimeError, match="own thread"):
        client.read_workspace("demo")


async def test_an_interrupt_from_the_keyboard_ends_the_call_and_its_connection() -> None:
    program = (
        "import sys; from aop.client import SyncClient\n"
        "with SyncClient(sys.argv[1], 'token') as client: client.invoke('demo', 'a', 'b', {})"
    )
    async with scripted_gateway(hold) as gateway:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, gateway.origin, stderr=asyncio.subprocess.PIPE
        )

        async def was_called() -> bool:
            return bool(gateway.received)

        await becomes_true(was_called)
        process.send_signal(signal.SIGINT)
        async with patience():
            await gateway.received[0].left.wait()
            _, said = await process.communicate()
    assert b"KeyboardInterrupt" in said
    assert process.returncode != 0


async def slow_token() -> str:
    """Likewise a name look-up or a connect that is under way."""
    await asyncio.sleep(60)
    return "never"


def error_of(act: Callable[[], object]) -> BaseException | None:
    try:
        act()
    except BaseException as error:  # noqa: BLE001  the error is what is looked at
        return error
    return None


@pytest.mark.parametrize("holds_up", [False, True])
async def test_closing_ends_the_calls_of_all_threads_at_once_with_an_error(holds_up: bool) -> None:
    answered = threading.Event()

    def prompt() -> str:
        """Holds up the client's own thread, as a question at a terminal would."""
        answered.wait(2 * PATIENCE_SECONDS)  # longer than anybody waits for the errors
        return "token"

    def act() -> list[BaseException | None]:
        client = SyncClient("http://127.0.0.1:9", prompt if holds_up else slow_token, timeout=600)
        with ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(error_of, client.read_platform_status) for _ in range(8)]
            while len(client._thread._awaited) < 8:
                time.sleep(0.01)
            closing = threading.Thread(target=client.close)
            closing.start()
            errors = [call.result(timeout=PATIENCE_SECONDS) for call in calls]
            answered.set()
            closing.join()
        return errors

    assert [type(error) for error in await asyncio.to_thread(act)] == [AnswerLost] * 8
    assert "aop-client" not in {thread.name for thread in threading.enumerate()}


async def test_closing_interrupts_a_stream_that_another_thread_reads(platform: Platform) -> None:
    platform.agent.script(streamed(task(), artifact("first"), end="open"))

    def act() -> BaseException | None:
        client, begun = SyncClient(platform.gateway.origin, platform.token), threading.Event()

        def read() -> None:
            with client.stream("demo", AGENT, CAPABILITY, NUMBERS) as chunks:
                assert next(chunks) == "first"
                begun.set()
                next(chunks)

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(error_of, read)
            begun.wait(PATIENCE_SECONDS)
            client.close()
            return reading.result(timeout=PATIENCE_SECONDS)

    error = await asyncio.to_thread(act)
    assert isinstance(error, StreamInterrupted)
    assert error.invocation_id is not None


async def test_calls_that_meet_the_closing_end_all_the_same() -> None:
    """Begun before, during and after: each ends with an error, none is left on a closed loop."""

    def act() -> set[type[BaseException | None]]:
        kinds: set[type[BaseException | None]] = set()
        for _ in range(20):
            client = SyncClient("http://127.0.0.1:9", slow_token, timeout=600)
            with ThreadPoolExecutor(4) as pool:
                calls = [pool.submit(error_of, client.read_platform_status) for _ in range(4)]
                client.close()
                kinds |= {type(call.result(timeout=PATIENCE_SECONDS)) for call in calls}
        return kinds

    assert await asyncio.to_thread(act) <= {AnswerLost, RuntimeError}


async def test_a_token_function_cannot_close_the_client_whose_thread_it_runs_in() -> None:
    client: SyncClient

    def token() -> str:
        client.close()
        return "never"

    with SyncClient("http://127.0.0.1:1", token) as client, pytest.raises(RuntimeError, match="own thread"):
        client.read_workspace("demo")
