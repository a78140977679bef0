"""Endpoint Bindings: who may bind which endpoint of which Card version, and what becomes claimed by it."""

from collections.abc import AsyncIterator
from functools import partial

import asyncpg
import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.publication import Provider, Scene, document_of, provider, publication_scene

CARD_ENDPOINT = "https://agents.example.com/a2a"
MALFORMED = [
    "https://user@agents.example.com/a2a",
    "https://agents.example.com/a2a?x=1",
    "https://agents.example.com/a2a#top",
    "https://agents.example.com/%61",
    "https://agents.example.com/a/../b",
    "https://agents.example.com/./a2a",
    "https://agents.example.com:0/a2a",
    "https://agents.example.com:65536/a2a",
    "https://agents.example.com:/a2a",
    "https://127.1/a2a",
    "https://0x7f.1/a2a",
    "https://2130706433/a2a",
    "https://agents.example.com\\a2a",
    "https://agents example.com/a2a",
    "https://agents.example.com/a\t",
    "https://bücher.example/a2a",
    "https://[fe80::1%25eth0]/a2a",
    "ftp://agents.example.com/a2a",
    "agents.example.com",
    f"https://{'a' * 64}.example/",
    f"https://{'a.' * 126}example/",
]


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


async def claims(scene: Scene) -> tuple[list[tuple[str, str]], list[tuple[str, str | None]]]:
    """Providers with their owners, and Agents with their providers, as stored."""
    connection = await asyncpg.connect(scene.stores.control_plane)
    try:
        providers = await connection.fetch("SELECT provider_id, owner_id FROM registry.provider ORDER BY 1")
        agents = await connection.fetch("SELECT agent_id, provider_id FROM registry.agent ORDER BY 1")
    finally:
        await connection.close()
    return [tuple(row) for row in providers], [tuple(row) for row in agents]


@pytest.mark.rows("PUB-01")
async def test_an_own_card_is_bound_with_its_endpoint_version_and_method(scene: Scene) -> None:
    await scene.alice.register(CARD_ENDPOINT)
    binding = document_of(await scene.alice.bind(CARD_ENDPOINT), 201, "endpoint-binding/1")
    assert binding.pop("bindingId").startswith("bind_")
    assert binding.pop("createdAt") == binding.pop("updatedAt")
    assert binding == {
        "providerId": "acme",
        "agentId": "acme:agent",
        "version": "1.0.0",
        "endpoint": CARD_ENDPOINT,
        "method": "http_well_known",
        "verificationStatus": "pending",
    }
    assert (scene.names.queries, scene.agent.connections) == ([], 0)


async def test_several_bindings_of_one_version_exist_side_by_side(scene: Scene) -> None:
    first = await scene.alice.new_binding(CARD_ENDPOINT)
    second = document_of(await scene.alice.bind(CARD_ENDPOINT), 201, "endpoint-binding/1")
    assert first["bindingId"] != second["bindingId"]
    assert await scene.alice.binding(first) == first
    assert await scene.alice.binding(second) == second


@pytest.mark.rows("PUB-02")
async def test_somebody_elses_card_is_forbidden_and_nothing_becomes_claimed(scene: Scene) -> None:
    await scene.alice.register(CARD_ENDPOINT)
    for endpoint in (CARD_ENDPOINT, "https://other.example.com/"):  # rights come before the comparison
        require_error(await scene.bob.bind(endpoint), 403, "FORBIDDEN", "2")
    assert await claims(scene) == ([], [("acme:agent", None)])


@pytest.mark.rows("PUB-03")
async def test_an_endpoint_other_than_the_cards_is_invalid_and_claims_nothing(scene: Scene) -> None:
    await scene.alice.register(CARD_ENDPOINT)
    for endpoint in (
        "https://agents.example.com/other",
        "https://agents.example.com/A2A",
        "https://agents.example.com/a2a/",
        "https://agents.example.com:8443/a2a",
        "http://agents.example.com/a2a",
        "https://agents.example.org/a2a",
    ):
        require_error(await scene.alice.bind(endpoint), 400, "INVALID_ENDPOINT", "2")
    assert await claims(scene) == ([], [("acme:agent", None)])


@pytest.mark.rows("PUB-03")
async def test_an_unknown_version_or_agent_is_not_found(scene: Scene) -> None:
    await scene.alice.register(CARD_ENDPOINT)
    require_error(await scene.alice.bind(CARD_ENDPOINT, version="1.0.1"), 404, "NOT_FOUND", "2")
    require_error(await scene.alice.bind(CARD_ENDPOINT, agent_id="acme:other"), 404, "NOT_FOUND", "2")


@pytest.mark.rows("PUB-04")
async def test_a_malformed_endpoint_is_invalid_even_for_a_card_that_does_not_exist(scene: Scene) -> None:
    for endpoint in MALFORMED:
        require_error(await scene.alice.bind(endpoint), 400, "INVALID_ENDPOINT", "2")
    empty = await scene.alice.bind("")
    require_error(empty, 400, "VALIDATION_ERROR", "2")
    assert empty.json["violations"] == [{"pointer": "/endpoint", "rule": "minLength"}]


@pytest.mark.rows("PUB-04")
@pytest.mark.parametrize(
    ("declared", "endpoint", "canonical"),
    [
        ("https://Agents.Example.COM./a2a", "HTTPS://agents.example.com:443/a2a", "https://agents.example.com/a2a"),
        ("http://agents.example.com:80", "http://AGENTS.example.com", "http://agents.example.com/"),
        ("https://[2606:4700:0:0::1]:8443/x", "https://[2606:4700::0001]:8443/x", "https://[2606:4700::1]:8443/x"),
        ("https://93.184.216.34:443/", "https://93.184.216.34", "https://93.184.216.34/"),
    ],
)
async def test_host_case_trailing_dot_and_default_port_are_made_canonical(
    scene: Scene, declared: str, endpoint: str, canonical: str
) -> None:
    await scene.alice.register(declared)
    binding = document_of(await scene.alice.bind(endpoint), 201, "endpoint-binding/1")
    assert binding["endpoint"] == canonical


async def test_a_card_whose_endpoint_cannot_be_canonical_cannot_be_bound(scene: Scene) -> None:
    await scene.alice.register("https://agents.example.com/a2a?tenant=1")
    for endpoint in ("https://agents.example.com/a2a?tenant=1", CARD_ENDPOINT):
        require_error(await scene.alice.bind(endpoint), 400, "INVALID_ENDPOINT", "2")


@pytest.mark.rows("PUB-05")
async def test_a_provider_id_belongs_to_the_first_who_binds_under_it(scene: Scene) -> None:
    await scene.alice.new_binding(CARD_ENDPOINT)
    intruder = Provider(scene.unit, scene.bob.token, "bob", "acme")
    await intruder.register(CARD_ENDPOINT, "globex:agent")
    require_error(await intruder.bind(CARD_ENDPOINT, "globex:agent"), 403, "FORBIDDEN", "2")
    assert await claims(scene) == ([("acme", "alice")], [("acme:agent", "acme"), ("globex:agent", None)])


@pytest.mark.rows("PUB-05")
async def test_an_agent_belongs_to_the_provider_of_its_first_binding(scene: Scene) -> None:
    await scene.alice.new_binding(CARD_ENDPOINT)
    second = Provider(scene.unit, scene.alice.token, "alice", "acme-two")
    require_error(await second.bind(CARD_ENDPOINT), 409, "CONFLICT", "2")
    await second.register(CARD_ENDPOINT, version="1.1.0")
    require_error(await second.bind(CARD_ENDPOINT, version="1.1.0"), 409, "CONFLICT", "2")
    assert await claims(scene) == ([("acme", "alice")], [("acme:agent", "acme")])  # acme-two was not claimed by it
    await second.register(CARD_ENDPOINT, "acme:other")
    document_of(await second.bind(CARD_ENDPOINT, "acme:other"), 201, "endpoint-binding/1")


async def test_the_checks_come_in_the_order_of_the_contract(scene: Scene) -> None:
    """Each row has every later fault as well, so that only the order decides."""
    alice, bob = scene.alice, scene.bob
    await alice.new_binding(CARD_ENDPOINT)
    await bob.new_binding(CARD_ENDPOINT, "globex:agent")
    taken = Provider(scene.unit, alice.token, "alice", "globex")
    wrong = "https://other.example.com/"
    require_error(await taken.bind("nonsense", "globex:agent", "9.9.9"), 400, "INVALID_ENDPOINT", "2")
    require_error(await taken.bind(wrong, "globex:agent", "9.9.9"), 404, "NOT_FOUND", "2")
    require_error(await taken.bind(wrong, "globex:agent"), 403, "FORBIDDEN", "2")
    require_error(await taken.bind(wrong), 400, "INVALID_ENDPOINT", "2")
    require_error(await taken.bind(CARD_ENDPOINT), 403, "FORBIDDEN", "2")
    own_second = Provider(scene.unit, alice.token, "alice", "acme-two")
    require_error(await own_second.bind(CARD_ENDPOINT), 409, "CONFLICT", "2")


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"method": "dns_txt"}, "/method", "enum"),
        ({"version": "1.0"}, "/version", "pattern"),
        ({"endpoint": 7}, "/endpoint", "type"),
        ({"secret": "canary"}, "", "additional_member"),
    ],
)
async def test_a_body_outside_the_contract_is_refused_with_its_place(
    scene: Scene, changes: dict[str, object], pointer: str, rule: str
) -> None:
    body = {"endpoint": CARD_ENDPOINT, "method": "http_well_known", "version": "1.0.0"}
    reply = await scene.alice.post("/v1/providers/acme/agents/acme:agent/endpoint-bindings", {**body, **changes})
    require_error(reply, 400, "VALIDATION_ERROR", "2")
    assert reply.json["violations"] == [{"pointer": pointer, "rule": rule}]


@pytest.mark.rows("PUB-19")
async def test_a_binding_is_read_by_its_provider_only(scene: Scene) -> None:
    binding = await scene.alice.new_binding(CARD_ENDPOINT)
    path = f"/v1/providers/acme/endpoint-bindings/{binding['bindingId']}"
    assert (await scene.alice.get(path)).json == binding
    require_error(await scene.bob.get(path), 403, "FORBIDDEN", "2")
    require_error(await scene.bob.get(path + "x"), 403, "FORBIDDEN", "2")
    require_error(await scene.alice.get(path + "x"), 404, "NOT_FOUND", "2")
    require_error(await scene.alice.get(path.replace("acme", "nobody")), 404, "NOT_FOUND", "2")
    require_error(await scene.alice.get(path.replace("bind_", "-")), 400, "VALIDATION_ERROR", "2")
    require_error(await scene.unit.get(path), 401, "UNAUTHENTICATED", "2")
    await scene.bob.new_binding(CARD_ENDPOINT, "globex:agent")
    # A Binding of another provider is unknown under an own one.
    require_error(await scene.bob.get(path.replace("acme", "globex")), 404, "NOT_FOUND", "2")


@pytest.mark.rows("PUB-05")
async def test_of_many_principals_who_claim_one_provider_id_at_once_exactly_one_gets_it(scene: Scene) -> None:
    rivals = [await provider(scene.unit, scene.stores, f"rival-{number}", "wanted") for number in range(20)]
    for rival in rivals:
        await rival.register(CARD_ENDPOINT, f"{rival.principal}:agent")
    replies = await all_answered(partial(rival.bind, CARD_ENDPOINT, f"{rival.principal}:agent") for rival in rivals)
    won = [rival.principal for rival, reply in zip(rivals, replies, strict=True) if reply.status == 201]
    assert len(won) == 1
    for reply in replies:
        if reply.status != 201:
            require_error(reply, 403, "FORBIDDEN", "2")
    providers, agents = await claims(scene)
    assert providers == [("wanted", won[0])]
    assert [agent for agent, owner in agents if owner is not None] == [f"{won[0]}:agent"]


async def test_of_many_providers_that_bind_one_agent_at_once_exactly_one_gets_it(scene: Scene) -> None:
    await scene.alice.register(CARD_ENDPOINT)
    own = [Provider(scene.unit, scene.alice.token, "alice", f"own-{number}") for number in range(20)]
    replies = await all_answered(partial(each.bind, CARD_ENDPOINT) for each in own for _ in range(2))
    won = {reply.json["providerId"] for reply in replies if reply.status == 201}
    assert len(won) == 1
    assert [reply.status for reply in replies].count(201) == 2
    assert await claims(scene) == ([(*won, "alice")], [("acme:agent", *won)])
