"""The draft of a Card made from an A2A agent card follows every rule, and lists what an agent card cannot say."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_card import MAX_SKILLS, A2ASecurity, NotAnAgentCard, is_agent_card, read_agent_card
from aop.agent.check.card_draft import CardDraft, draft_of, endpoint_of
from aop.cards.rules import card_violations
from aop.contracts.documents import document
from aop.net.origin import Endpoint
from tests.support.cards import a_card
from tests.support.foreign_agent import card_0_3, card_1_0

Json = dict[str, Any]
WHOLE = {"endpoint": "http://127.0.0.1:8099/", "owner_id": "alice", "agent_id": "alice:hello"}


def drafted(card: Json, **options: Any) -> CardDraft:
    return draft_of(read_agent_card(card), **(WHOLE | options))


def pointers(draft: CardDraft) -> set[str]:
    return {point.pointer for point in draft.open_points}


def require_valid(card: Json) -> None:
    raw = json.dumps(card).encode()
    assert document("agent-card/0.2").violations(card) == ()
    assert list(card_violations(raw, card)) == []


@pytest.mark.parametrize("mode", ["text", "text/plain", "*/*", "*"])
def test_the_mode_text_is_text_that_the_platform_sends(mode: str) -> None:
    draft = drafted(card_1_0(defaultInputModes=[mode]))
    assert draft.card["skills"][0]["inputSchema"]["type"] == "string"
    assert "/skills/0/inputSchema" not in pointers(draft)


@pytest.mark.rows("FOR-06")
@pytest.mark.parametrize("card", [card_0_3(), card_1_0()])
def test_both_forms_give_the_same_card_and_the_same_open_points(card: Json) -> None:
    draft = drafted(card)
    require_valid(draft.card)
    assert draft.card["skills"] == [
        {
            "id": "hello_world",
            "name": "Returns hello world",
            "description": "just returns hello world",
            "inputSchema": {
                "description": "The text for the Agent.",
                "type": "string",
                "minLength": 1,
                "examples": ["hi", "hello world"],
            },
            "outputSchema": {"description": "Any result of the Agent."},
            "requiredPermissions": [],
        }
    ]
    assert (draft.card["agentId"], draft.card["version"]) == ("alice:hello", "1.0.0")
    assert draft.card["limits"]["streaming"] is True
    assert pointers(draft) == {"/skills/*/outputSchema", "/permissions", "/limits"}


@pytest.mark.rows("FOR-06")
@pytest.mark.parametrize(
    ("changes", "pointer", "place", "value"),
    [
        ({"version": "2.1"}, "/version", ["version"], "2.1.0"),
        ({"version": "newest"}, "/version", ["version"], "1.0.0"),
        ({"name": " "}, "/name", ["name"], "Agent"),
        ({"description": None}, "/description", ["description"], "Hello World Agent"),
        ({"skills": []}, "/skills", ["skills", 0, "id"], "chat"),
        ({"skills": [{"id": "Say it!", "name": "Say"}]}, "/skills/0/id", ["skills", 0, "id"], "say-it"),
        ({"skills": [{"id": "a"}, {"id": "a"}]}, "/skills/1/id", ["skills", 1, "id"], "a-1"),
        (
            {"defaultInputModes": ["json"], "skills": [{"id": "a"}]},
            "/skills/0/inputSchema",
            ["skills", 0, "inputSchema"],
            {"type": "object"},
        ),
        (
            {"defaultInputModes": ["application/json"], "skills": [{"id": "a", "examples": ['{"n": 1}', "text"]}]},
            "/skills/0/inputSchema",
            ["skills", 0, "inputSchema"],
            {"type": "object", "examples": [{"n": 1}]},
        ),
        (
            {"skills": [{"id": "a", "inputModes": ["text/plain", "application/json"]}]},
            "/skills/0/inputSchema",
            ["skills", 0, "inputSchema", "type"],
            "string",
        ),
        (
            {"defaultInputModes": ["image/png"]},
            "/skills/0/inputSchema",
            ["skills", 0, "inputSchema", "type"],
            "string",
        ),
    ],
)
def test_what_cannot_be_taken_over_is_replaced_and_listed(
    changes: Json, pointer: str, place: list[str | int], value: object
) -> None:
    draft = drafted(card_0_3(**changes))
    require_valid(draft.card)
    found: Any = draft.card
    for token in place:
        found = found[token]
    assert found == value
    assert pointer in pointers(draft)


def test_an_unknown_owner_is_marked_in_the_draft() -> None:
    draft = drafted(card_0_3(provider={"organization": "Acme"}), owner_id=None, agent_id=None)
    require_valid(draft.card)
    assert draft.card["owner"] == {"id": "CHANGE-ME", "displayName": "Acme"}
    assert draft.card["agentId"] == "CHANGE-ME:hello-world-agent"
    assert {"/owner/id", "/agentId"} <= pointers(draft)


@pytest.mark.parametrize(
    ("url", "read_from", "endpoint", "listed"),
    [
        ("http://agent.example/a2a", "http://agent.example/", "http://agent.example/a2a", False),
        ("http://0.0.0.0:9999/a2a", "https://agent.example/", "https://agent.example/a2a", True),
        ("http://localhost:9999/", "http://127.0.0.1:9999/", "http://127.0.0.1:9999/", True),
        ("https://other.example/a2a", "https://cards.example/", "https://other.example/a2a", True),
        ("https://other.example/a2a", None, "https://other.example/a2a", False),
        ("grpc://agent.example", "https://agent.example/", "https://agent.example/", True),
        ("", None, "http://change-me.invalid/", True),
    ],
)
def test_the_endpoint_is_the_address_that_others_can_reach(
    url: str, read_from: str | None, endpoint: str, listed: bool
) -> None:
    place = None if read_from is None else Endpoint.parse(read_from)
    found, point = endpoint_of(read_agent_card(card_0_3(url)), place)
    assert (found, point is not None) == (endpoint, listed)


@pytest.mark.parametrize(
    ("card", "versions"),
    [
        (card_0_3(), {"0.3"}),
        (card_1_0(), {"1.0"}),
        (card_0_3() | card_1_0(), {"0.3", "1.0"}),
        (card_1_0(supportedInterfaces=[{"url": "http://a.example/", "protocolBinding": "JSONRPC"}]), {"1.0"}),
        (card_0_3(preferredTransport="GRPC"), set()),
        (
            card_0_3(
                preferredTransport="GRPC", additionalInterfaces=[{"transport": "JSONRPC", "url": "http://b.example/"}]
            ),
            {"0.3"},
        ),
        (card_0_3(protocolVersion="0.2.5"), set()),
    ],
)
def test_the_versions_that_a_card_declares_are_read_from_both_forms(card: Json, versions: set[str]) -> None:
    assert read_agent_card(card).declared == {A2AVersion(version) for version in versions}


@pytest.mark.parametrize(
    ("schemes", "kind"),
    [
        ({"k": {"type": "apiKey", "in": "header", "name": "x-key"}}, A2ASecurity.API_KEY),
        ({"k": {"apiKeySecurityScheme": {"name": "x-key"}}}, A2ASecurity.API_KEY),
        ({"b": {"type": "http", "scheme": "Bearer"}}, A2ASecurity.HTTP_BEARER),
        ({"b": {"httpAuthSecurityScheme": {"scheme": "basic"}}}, A2ASecurity.HTTP_OTHER),
        ({"o": {"oauth2SecurityScheme": {}}}, A2ASecurity.OAUTH2),
        ({"m": {"type": "mutualTLS"}}, A2ASecurity.MUTUAL_TLS),
    ],
)
def test_what_an_agent_asks_of_its_callers_is_read_from_both_forms(schemes: Json, kind: A2ASecurity) -> None:
    assert read_agent_card(card_0_3(securitySchemes=schemes)).security == {kind}


def test_a_card_of_any_length_is_read_as_far_as_anybody_needs_it() -> None:
    """Whoever writes it is a stranger, and each entry costs work and lines for a person to read."""
    texts = tuple(f"text/{number}" for number in range(51))
    places = [{"url": f"https://agent.example/{text}", "protocolBinding": "JSONRPC"} for text in texts]
    skill = {"name": "One", "examples": texts, "inputModes": texts}
    skills = [{**skill, "id": str(number)} for number in range(MAX_SKILLS + 1)]
    found = read_agent_card(json.loads(json.dumps(card_1_0(supportedInterfaces=places, skills=skills))))
    assert [place.url for place in found.interfaces] == [place["url"] for place in places[:50]]
    assert [one.id for one in found.skills] == [str(number) for number in range(MAX_SKILLS)]
    assert {one.examples for one in found.skills} == {one.input_modes for one in found.skills} == {texts[:50]}


@pytest.mark.parametrize("value", [a_card(), {"url": "http://a.example"}, [], "text", None, {"name": "a"}])
def test_other_documents_are_not_taken_for_an_agent_card(value: object) -> None:
    assert not is_agent_card(value)
    with pytest.raises(NotAnAgentCard):
        read_agent_card(value)


_TEXT = st.text('aZ9-.:/ {}"1\0\n\ufeff\u202e\u00e9', max_size=20)
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=8,
)
_SKILL_MEMBERS = ("id", "name", "description", "examples", "inputModes")
_SKILL = st.fixed_dictionaries({}, optional=dict.fromkeys(_SKILL_MEMBERS, _ANY))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_whatever_an_agent_card_holds_the_draft_follows_every_rule(data: st.DataObject) -> None:
    names = [*card_0_3(), *card_1_0(), "securitySchemes", "provider", "additionalInterfaces"]
    changes = data.draw(st.dictionaries(st.sampled_from(names), _ANY, max_size=5))
    card = card_0_3() | {"skills": data.draw(st.lists(_SKILL, max_size=4))} | changes | {"url": "x", "capabilities": {}}
    endpoint, _ = endpoint_of(read_agent_card(card), None)
    require_valid(drafted(card, endpoint=endpoint, owner_id=None, agent_id=None).card)
