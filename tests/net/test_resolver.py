"""Look-ups (contract 5.6): bounded, shared, reused for five seconds, never a stall."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, AllowList, Bounds, NameNotResolved, NetworkPolicy, Resolver
from tests.support.waiting import patience


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class NameServer:
    """Answers as scripted, one after the other and then the last one again; can be told to hang."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self._answers = list(answers)
        self.queries: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, host: str) -> Sequence[str]:
        self.queries.append(host)
        self.gate.wait(20)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def hanging() -> Iterator[NameServer]:
    server = NameServer(["10.0.0.1"])
    server.gate.clear()
    yield server
    server.gate.set()


def soon(seconds: float = 10) -> float:
    return asyncio.get_running_loop().time() + seconds


async def until(condition: Callable[[], bool]) -> None:
    async with patience():
        while not condition():  # noqa: ASYNC110  (the threads under test set no event)
            await asyncio.sleep(0.001)


async def test_the_order_of_the_system_is_kept_and_repeats_are_dropped() -> None:
    server = NameServer(["2001:db8::1", "10.0.0.1", "2001:db8::1", "10.0.0.2", "10.0.0.1"])
    assert await Resolver(server).addresses("agent.example", soon()) == ("2001:db8::1", "10.0.0.1", "10.0.0.2")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "2001:db8::1"])
async def test_an_address_is_not_looked_up(host: str) -> None:
    server = NameServer(["10.0.0.1"])
    assert await Resolver(server).addresses(host, soon()) == (host,)
    assert server.queries == []


async def test_an_answer_is_reused_for_less_than_five_seconds_and_then_asked_for_again() -> None:
    clock, server = Clock(), NameServer(["10.0.0.1"], ["10.0.0.2"])
    resolver = Resolver(server, monotonic=clock)
    assert await resolver.addresses("agent.example", soon()) == ("10.0.0.1",)
    clock.now += 4.999
    assert await resolver.addresses("agent.example", soon()) == ("10.0.0.1",)
    clock.now += 0.001
    assert await resolver.addresses("agent.example", soon()) == ("10.0.0.2",)
    assert server.queries == ["agent.example"] * 2


async def test_look_ups_of_one_name_at_one_time_are_one(hanging: NameServer) -> None:
    resolver = Resolver(hanging)
    callers = [asyncio.create_task(resolver.addresses("agent.example", soon())) for _ in range(50)]
    await until(lambda: bool(hanging.queries))
    hanging.gate.set()
    assert set(await asyncio.gather(*callers)) == {("10.0.0.1",)}
    assert hanging.queries == ["agent.example"]


async def test_a_caller_that_leaves_does_not_end_the_look_up_of_the_others(hanging: NameServer) -> None:
    resolver = Resolver(hanging)
    leaver, stayer = (asyncio.create_task(resolver.addresses("agent.example", soon())) for _ in range(2))
    await until(lambda: bool(hanging.queries))
    leaver.cancel()
    hanging.gate.set()
    assert await stayer == ("10.0.0.1",)
    with pytest.raises(asyncio.CancelledError):
        await leaver


@pytest.mark.rows("PUB-13")
@pytest.mark.parametrize("failure", [socket.gaierror(-2, "unknown"), OSError("down"), UnicodeError("label"), []])
async def test_a_failed_or_empty_look_up_is_a_name_not_resolved_and_is_not_remembered(
    failure: Exception | Sequence[str],
) -> None:
    resolver = Resolver(NameServer(failure, ["10.0.0.1"]))
    with pytest.raises(NameNotResolved):
        await resolver.addresses("agent.example", soon())
    assert await resolver.addresses("agent.example", soon()) == ("10.0.0.1",)


async def test_a_look_up_that_hangs_gives_up_by_itself(hanging: NameServer) -> None:
    resolver = Resolver(hanging, Bounds(lookup_seconds=0.02))
    with pytest.raises(NameNotResolved):
        await resolver.addresses("agent.example", soon())


async def test_the_callers_own_deadline_is_a_timeout(hanging: NameServer) -> None:
    with pytest.raises(TimeoutError):
        await Resolver(hanging).addresses("agent.example", soon(0.02))


async def test_when_every_thread_hangs_a_new_look_up_fails_at_once_and_recovers_with_the_name_server(
    hanging: NameServer,
) -> None:
    resolver = Resolver(hanging, Bounds(threads=2, lookup_seconds=0.02))
    stuck = [resolver.addresses(f"host-{number}.example", soon()) for number in range(2)]
    assert {type(result) for result in await asyncio.gather(*stuck, return_exceptions=True)} == {NameNotResolved}
    with pytest.raises(NameNotResolved):
        resolver.addresses("other.example", soon()).send(None)  # not even one turn of the loop
    assert "other.example" not in hanging.queries
    hanging.gate.set()
    await until(lambda: not resolver._running)
    resolver._bounds = replace(resolver._bounds, lookup_seconds=10.0)  # an answer takes its time on a busy machine
    assert await resolver.addresses("other.example", soon()) == ("10.0.0.1",)


@pytest.mark.parametrize(
    ("bounds", "threads", "waiting"),
    [(Bounds(lookup_seconds=60, threads=2, waiting=3), 2, 3), (Bounds(lookup_seconds=60), 16, 256)],
    ids=["named", "of a unit"],
)
async def test_no_more_look_ups_run_or_wait_than_the_bounds_say(
    hanging: NameServer, bounds: Bounds, threads: int, waiting: int
) -> None:
    resolver, names = Resolver(hanging, bounds), [f"host-{number}.example" for number in range(threads + waiting + 4)]
    callers = [asyncio.create_task(resolver.addresses(name, soon(60))) for name in names]
    await until(lambda: len(hanging.queries) >= threads)
    await until(lambda: len(hanging.queries) > threads or sum(caller.done() for caller in callers) == 4)
    assert len(hanging.queries) == threads
    hanging.gate.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    refused = [isinstance(result, NameNotResolved) for result in results]
    assert refused == [False] * (threads + waiting) + [True] * 4


async def test_an_answer_that_comes_after_the_look_up_gave_up_is_not_used(hanging: NameServer) -> None:
    resolver = Resolver(hanging, Bounds(lookup_seconds=0.02))
    with pytest.raises(NameNotResolved):
        await resolver.addresses("agent.example", soon())
    hanging.gate.set()
    await until(lambda: not resolver._running)
    resolver._bounds = replace(resolver._bounds, lookup_seconds=10.0)  # an answer takes its time on a busy machine
    assert await resolver.addresses("agent.example", soon()) == ("10.0.0.1",)
    assert hanging.queries == ["agent.example"] * 2


async def test_answers_are_remembered_up_to_a_bound() -> None:
    server = NameServer(["10.0.0.1"])
    resolver = Resolver(server, Bounds(remembered=3), monotonic=Clock())
    for number in range(6):
        await resolver.addresses(f"host-{number}.example", soon())
    assert list(resolver._answers) == ["host-3.example", "host-4.example", "host-5.example"]


async def test_a_loop_that_ended_meanwhile_is_no_fault(hanging: NameServer) -> None:
    def short_life() -> None:
        async def ask() -> None:
            with pytest.raises(TimeoutError):
                await Resolver(hanging).addresses("agent.example", soon(0.02))

        asyncio.run(ask())

    await asyncio.to_thread(short_life)
    hanging.gate.set()


@pytest.mark.rows("PUB-17")
async def test_a_name_that_answers_differently_later_is_judged_by_each_answer_it_gave() -> None:
    clock, server = Clock(), NameServer(["8.8.8.8"], ["127.0.0.1"])
    policy = NetworkPolicy(AllowList.parse([]), Resolver(server, monotonic=clock))
    endpoint = Endpoint.parse("https://agent.example/a")
    assert await policy.admit(endpoint, soon()) == "8.8.8.8"
    assert await policy.admit(endpoint, soon()) == "8.8.8.8"
    assert server.queries == ["agent.example"]
    clock.now += 5
    with pytest.raises(AddressRefused):
        await policy.admit(endpoint, soon())


async def test_a_host_given_as_an_address_is_judged_like_any_other() -> None:
    policy = NetworkPolicy(AllowList.parse(["127.0.0.1:8091", "[::1]"]), Resolver(NameServer([])))
    assert await policy.admit(Endpoint.parse("http://127.0.0.1:8091/"), soon()) == "127.0.0.1"
    assert await policy.admit(Endpoint.parse("http://[::1]:8092/"), soon()) == "::1"
    for url in ("http://127.0.0.1:8092/", "https://10.0.0.1/", "https://[::ffff:8.8.8.8]/", "http://8.8.8.8/"):
        with pytest.raises(AddressRefused):
            await policy.admit(Endpoint.parse(url), soon())


async def test_localhost_is_found_by_the_system() -> None:
    addresses = await Resolver().addresses("localhost", soon())
    assert set(addresses) <= {"127.0.0.1", "::1"}
