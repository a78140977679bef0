"""Ids of the requests to Agents: an answer to one request is never the answer to another."""

from typing import Any

import pytest

from tests.router.conftest import LoneRouter
from tests.support.agent import a_task, echo, rpc_error
from tests.support.doubled_answers import Doubling, echoed, outcome_of
from tests.support.peers import Behaviour, Received


async def call(router: LoneRouter, value: str, *, stream: bool = False) -> Any:
    accept = (b"accept", b"text/event-stream" if stream else b"application/json")
    reply = await router.dispatch(router.plane.dispatch(input={"text": value}, stream=stream), headers=[accept])
    return outcome_of(reply.header("content-type"), reply.body)


def answering_to(request_id: str, behaviour: Behaviour) -> Behaviour:
    """The same, as an answer to another request."""

    async def behave(received: Received) -> None:
        received.json["id"] = request_id
        await behaviour(received)

    return behave


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("stream", [False, True], ids=["JSON", "stream"])
async def test_an_answer_sent_twice_is_not_the_result_of_the_next_call(router: LoneRouter, stream: bool) -> None:
    origin = Doubling()
    router.agent.usual = (origin,)
    told = [await call(router, value, stream=stream) for value in ("secret of one", "of two", "of three")]
    assert told == [{"text": "secret of one"}, "A2A_PROTOCOL_ERROR", {"text": "of three"}]
    assert origin.connections == [1, 1, 2]


@pytest.mark.rows("SOUND-01")
async def test_no_request_has_the_id_of_another_or_one_that_follows_from_it(router: LoneRouter) -> None:
    working, invalid = a_task("working"), rpc_error(-32602)
    for _ in range(3):
        router.agent.script(working, working, invalid)
        await router.dispatch()
        router.agent.script(working, rpc_error(-32601))
        await router.dispatch()
    ids = [received.json["id"] for received in router.agent.received]
    methods = {received.json["method"] for received in router.agent.received}
    assert methods == {"message/send", "tasks/get"}
    # Neither invocationId nor traceId, which others know, tells anything of it, nor one request of the next.
    assert len({request_id[:12] for request_id in ids}) == len(ids) == 3 * (3 + 2)
    assert {len(bytes.fromhex(request_id)) for request_id in ids} == {12}
    for received in router.agent.received:
        known = received.body.replace(received.json["id"].encode(), b"") + repr(received.headers).encode()
        assert received.json["id"][:12].encode() not in known


@pytest.mark.rows("SOUND-01")
@pytest.mark.parametrize("method", ["message/send", "tasks/get", "tasks/cancel"])
async def test_a_connection_with_an_answer_to_another_request_is_closed(router: LoneRouter, method: str) -> None:
    working = a_task("working")
    foreign = answering_to("0" * 24, working)
    router.agent.on_cancel = foreign
    router.agent.script(*([foreign] if method == "message/send" else [working, foreign]))
    router.agent.usual = (echo,)
    assert (await router.dispatch()).code == "A2A_PROTOCOL_ERROR"
    answer_to = await router.agent.arrival(method)
    for _ in range(20):  # nobody tells when the answer to a cancel is read
        assert (await router.dispatch()).status == 200
    after = router.agent.received[router.agent.received.index(answer_to) + 1 :]
    assert answer_to.connection not in {received.connection for received in after}


@pytest.mark.rows("SOUND-01")
async def test_a_stream_that_breaks_the_protocol_with_its_last_event_is_no_reason_to_keep_its_connection(
    router: LoneRouter,
) -> None:
    origin = Doubling(lambda received: echoed(received, "0" * 24))
    router.agent.usual = (origin,)
    for _ in range(2):
        assert await call(router, "a", stream=True) == "A2A_PROTOCOL_ERROR"
    assert origin.connections == [1, 2]
