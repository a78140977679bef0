"""Registering Agent Cards: what is stored, who may store it, and in which form it may be sent."""

import json
import re

import pytest

from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.cards import a_card, a_skill, broken, count_cards
from tests.support.contracts import valid_examples
from tests.support.errors import require_error
from tests.support.units import RunningUnit

VALID = [example for example in valid_examples() if example.document == "agent-card/0.2"]


@pytest.mark.rows("CAT-01")
async def test_a_valid_card_becomes_a_draft(gateway: RunningUnit, alice: str) -> None:
    card = a_card()
    reply = await gateway.post("/v1/agents", card, token=alice)
    entry = reply.json
    assert reply.status == 201
    assert document("catalog-entry/1").violations(entry) == ()
    assert (entry["publicationStatus"], entry["release"], entry["installable"]) == ("draft", None, False)
    assert re.fullmatch("[0-9a-f]{64}", entry["cardDigest"])
    assert re.fullmatch("agt_[0-9a-f]{32}", entry["publicAgentId"])
    assert entry["publicUrl"] == f"http://127.0.0.1:8082/a/{entry['publicAgentId']}"
    assert entry["card"] == card
    assert reply.header("location") == "/v1/agents/acme:summarizer/versions/1.0.0"
    assert reply.header("cache-control") == "no-store"
    assert not entry.keys() & {"publishedAt", "disabledAt"}


@pytest.mark.rows("CAT-01")
async def test_the_location_of_a_version_with_build_metadata_leads_to_it(gateway: RunningUnit, alice: str) -> None:
    reply = await gateway.post("/v1/agents", a_card(version="1.0.0-rc.1+build.5"), token=alice)
    found = await gateway.get(reply.header("location") or "", token=alice)
    assert (found.status, found.json["version"]) == (200, "1.0.0-rc.1+build.5")


@pytest.mark.rows("CAT-02")
async def test_an_entry_keeps_its_time_and_the_agent_its_public_id(gateway: RunningUnit, alice: str) -> None:
    first = (await gateway.post("/v1/agents", a_card(), token=alice)).json
    second = (await gateway.post("/v1/agents", a_card(version="1.0.1"), token=alice)).json
    other = (await gateway.post("/v1/agents", a_card(agent_id="acme:other"), token=alice)).json
    versions = (await gateway.get("/v1/agents/acme:summarizer", token=alice)).json["versions"]
    assert {entry["version"]: entry["registeredAt"] for entry in versions} == {
        "1.0.0": first["registeredAt"],
        "1.0.1": second["registeredAt"],
    }
    assert first["publicAgentId"] == second["publicAgentId"] != other["publicAgentId"]


@pytest.mark.rows("CAT-03")
async def test_an_existing_version_is_a_conflict_whoever_posts_it(
    gateway: RunningUnit, alice: str, bob: str, stores: DatabaseUrls
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    before = (await gateway.get("/v1/agents/acme:summarizer/versions/1.0.0", token=alice)).body
    for token, card in ((alice, a_card()), (alice, a_card(name="Other")), (bob, a_card(owner="bob", name="Other"))):
        reply = await gateway.post("/v1/agents", card, token=token)
        require_error(reply, 409, "CONFLICT", "2", "already_exists")
        assert reply.json.keys() == {"code", "message", "reason", "traceId"}
        assert not any(word in reply.body for word in (b"alice", b"Summarizer", b"draft"))
    assert (await gateway.get("/v1/agents/acme:summarizer/versions/1.0.0", token=alice)).body == before
    assert await count_cards(stores) == (1, 1)


@pytest.mark.rows("CAT-04")
async def test_another_principal_cannot_take_an_agent_or_speak_for_its_owner(
    gateway: RunningUnit, alice: str, bob: str, stores: DatabaseUrls
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    for card in (a_card(version="2.0.0", owner="bob"), a_card(version="2.0.0"), a_card(agent_id="acme:new")):
        require_error(await gateway.post("/v1/agents", card, token=bob), 403, "FORBIDDEN", "2")
    assert await count_cards(stores) == (1, 1)


@pytest.mark.rows("CAT-01")
async def test_every_valid_example_registers(gateway: RunningUnit, alice: str) -> None:
    assert len(VALID) >= 10
    for number, example in enumerate(VALID):
        own = {"agentId": f"acme:{number}", "owner": {"id": "alice", "displayName": "Acme Research"}}
        card = {**json.loads(example.body), **own}
        reply = await gateway.post("/v1/agents", card, token=alice)
        assert reply.status == 201, (example.path.stem, reply.body)
        assert reply.json["card"] == card


@pytest.mark.rows("CAT-10")
async def test_a_body_that_is_not_strict_json_is_refused(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    good = json.dumps(a_card()).encode()
    cases = {
        good.replace(b'"streaming": true', b'"streaming": true, "streaming": true'): "duplicate_member",
        good.replace(b'"minLength": 1', b'"minLength": 1, "minLength": 1'): "duplicate_member",
        good + b"{}": "trailing_data",
        good.replace(b'"Summarizer"', b'"\\ud800"'): "surrogate",
        good.replace(b"60000", b"NaN"): "json_syntax",
        b"\xef\xbb\xbf" + good: "json_syntax",
        good.replace(b'"Summarizer"', b'"\xff"'): "json_syntax",
        b"": "content_type",
        b"\n": "json_syntax",
        _nested(65): "depth",
    }
    for body, rule in cases.items():
        reply = await gateway.post("/v1/agents", body, token=alice)
        assert [found for _, found in broken(reply)] == [rule], rule
    for content_type in (b"text/plain", b"application/json, text/plain"):
        reply = await gateway.post("/v1/agents", good, token=alice, headers=[(b"content-type", content_type)])
        assert broken(reply) == [("", "content_type")]
    assert await count_cards(stores) == (0, 0)


@pytest.mark.rows("CAT-10")
async def test_sixty_four_levels_and_a_charset_pass(gateway: RunningUnit, alice: str) -> None:
    headers = [(b"content-type", b"application/json; charset=utf-8")]
    reply = await gateway.post("/v1/agents", _nested(64), token=alice, headers=headers)
    assert reply.status == 201, reply.body


def _nested(levels: int) -> bytes:
    """A valid Card whose deepest array lies `levels` levels deep; the Card itself counts as one."""
    before = len(("card", "skills", "skill", "inputSchema"))
    value: object = 1
    for _ in range(levels - before):
        value = [value]
    return json.dumps(a_card(skills=[a_skill(inputSchema={"default": value})])).encode()


@pytest.mark.rows("CAT-11")
async def test_a_card_one_byte_over_the_limit_is_refused(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    card = json.dumps(a_card()).encode()
    fitting = card + b" " * (1_048_576 - len(card))
    require_error(
        await gateway.post("/v1/agents", fitting + b" ", token=alice), 413, "PAYLOAD_TOO_LARGE", "2", "body_size"
    )
    assert await count_cards(stores) == (0, 0)
    assert (await gateway.post("/v1/agents", fitting, token=alice)).status == 201


async def test_registration_needs_a_token_before_anything_is_read(gateway: RunningUnit) -> None:
    require_error(await gateway.post("/v1/agents", b"not json"), 401, "UNAUTHENTICATED", "2")


async def test_text_is_kept_exactly(gateway: RunningUnit, alice: str) -> None:
    card = a_card(name='Größe 😀 \u2028 \\ " / \t', description="\u0001 e\u0301 é ﬃ")
    entry = (await gateway.post("/v1/agents", card, token=alice)).json
    assert entry["card"] == card
    read = await gateway.get("/v1/agents/acme:summarizer/versions/1.0.0", token=alice)
    assert read.json == card
