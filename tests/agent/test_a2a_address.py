"""An address says what Agent is there: its card, the versions it answers, or in one line why there is none."""

import json

import pytest

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_address import MAX_CARD_BYTES, AgentNotFound, AgentSilent, find_agent
from aop.local.ports import any_free_port
from aop.net.origin import Endpoint, InvalidEndpoint
from tests.support.foreign_agent import NEW, OLD, ForeignAgent, Json, card_0_3, card_1_0, foreign_agent

CARD = "/.well-known/agent-card.json"
BOTH = [
    {"url": "http://localhost:9999/", "protocolBinding": "JSONRPC", "protocolVersion": one} for one in ("0.3", "1.0")
]


@pytest.mark.rows("FOR-06")
@pytest.mark.parametrize(
    ("path", "address"),
    [
        (CARD, "/"),
        ("/.well-known/agent.json", ""),
        ("/a2a/one/.well-known/agent-card.json", "/a2a/one"),
        ("/cards/one.json", "/cards/one.json"),
        (f"{CARD}?assistant_id=one", f"{CARD}?assistant_id=one"),
    ],
)
async def test_a_card_is_found_in_each_of_its_places(path: str, address: str) -> None:
    with foreign_agent(ForeignAgent()) as agent:
        agent.show(card_0_3(), path)
        found = await find_agent(agent.origin + address)
    assert found.card.name == "Hello World Agent"
    assert found.card_url == agent.origin + path


async def test_the_card_of_the_origin_counts_for_a_path_only_when_it_names_that_path() -> None:
    with foreign_agent(ForeignAgent()) as agent:
        agent.show(card_0_3(f"{agent.origin}/one"))
        assert (await find_agent(f"{agent.origin}/one")).endpoint == f"{agent.origin}/one"
        with pytest.raises(AgentNotFound, match="404"):
            await find_agent(f"{agent.origin}/two")


@pytest.mark.rows("FOR-07")
@pytest.mark.parametrize(
    ("card", "methods", "speaks", "called_in"),
    [
        (card_0_3(), OLD, {"0.3"}, "0.3"),
        (card_1_0(), NEW, {"1.0"}, "1.0"),
        (card_1_0(), (*OLD, *NEW), {"0.3", "1.0"}, "1.0"),  # as fasta2a 2.1, which speaks no 0.3
        (card_0_3(), (*OLD, *NEW), {"0.3", "1.0"}, "0.3"),
        (card_0_3(supportedInterfaces=BOTH), (*OLD, *NEW), {"0.3", "1.0"}, "0.3"),
        (card_0_3(supportedInterfaces=BOTH), NEW, {"1.0"}, "1.0"),
        (card_0_3(), NEW, {"1.0"}, "1.0"),  # an SDK of 1.0 writes such a card when its author names no version
        (card_1_0(), OLD, {"0.3"}, "0.3"),
    ],
)
async def test_the_versions_are_those_that_the_agent_answers_and_the_card_decides_between_them(
    card: Json, methods: tuple[str, ...], speaks: set[str], called_in: str
) -> None:
    with foreign_agent(ForeignAgent(methods)) as agent:
        agent.show(card)
        found = await find_agent(agent.origin)
    assert found.speaks == {A2AVersion(one) for one in speaks}
    assert found.called_in == called_in
    assert not found.checks_callers
    assert [request["method"] for _, request in agent.seen] == ["tasks/get", "GetTask"]
    assert {request["authorization"] for _, request in agent.seen} == {None}
    assert {request["content-type"] for _, request in agent.seen} == {"application/json"}


@pytest.mark.parametrize("status", [401, 403])
async def test_an_agent_that_asks_for_a_credential_is_judged_by_its_card(status: int) -> None:
    with foreign_agent(ForeignAgent(status=status)) as agent:
        agent.show(card_0_3())
        found = await find_agent(agent.origin)
    assert found.speaks == {A2AVersion.V0_3}
    assert found.checks_callers


@pytest.mark.parametrize("said", [b'{"result":"caf\xe9"}', b'{"result":%b%b}' % (b"[" * 30_000, b"]" * 30_000), b"<p>"])
async def test_an_agent_whose_answer_cannot_be_read_is_judged_by_its_card(said: bytes) -> None:
    with foreign_agent(ForeignAgent(says=said)) as agent:
        agent.show(card_0_3())
        found = await find_agent(agent.origin)
    assert found.speaks == {A2AVersion.V0_3}
    assert found.checks_callers is None


async def test_nothing_is_sent_to_another_host_that_a_card_names() -> None:
    with foreign_agent(ForeignAgent()) as agent, foreign_agent(ForeignAgent()) as other:
        agent.show(card_0_3(other.origin.replace("127.0.0.1", "127.0.0.2")))
        found = await find_agent(agent.origin)
        named = await find_agent(agent.origin, endpoint=Endpoint.parse(other.origin))
    assert (agent.seen, other.seen) == ([], [])
    assert found.speaks == named.speaks == {A2AVersion.V0_3}


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ((404, b""), "answers with status 404"),
        ((302, b"https://elsewhere.example/"), "redirects, which is not followed"),
        ((200, b"<html>"), "is not an A2A agent card"),
        ((200, b'{"name": "a"}'), "is not an A2A agent card"),
        ((200, json.dumps(card_0_3(name="x" * MAX_CARD_BYTES)).encode()), "more than 1,048,576 bytes"),
    ],
)
async def test_why_there_is_no_card_is_one_line(page: tuple[int, bytes], reason: str) -> None:
    with foreign_agent(ForeignAgent()) as agent:
        agent.pages[CARD] = page
        with pytest.raises(AgentNotFound, match=reason) as caught:
            await find_agent(agent.origin)
    assert "\n" not in str(caught.value)


async def test_a_dead_address_is_told_from_one_without_a_card() -> None:
    with pytest.raises(AgentSilent, match="nothing answers at"):
        await find_agent(f"http://127.0.0.1:{any_free_port()}/")
    with pytest.raises(InvalidEndpoint):
        await find_agent("ftp://agent.example/")
    with pytest.raises(InvalidEndpoint):
        await find_agent("http://agent.example/card.json?a b")
