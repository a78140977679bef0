"""Reading Cards: exact bytes and their digest, conditional reads, and the overview of an Agent."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785

from aop.contracts.documents import document
from tests.support.cards import a_card, a_skill, broken
from tests.support.errors import require_error
from tests.support.units import RunningUnit

AGENT = "/v1/agents/acme:summarizer"
VERSION = f"{AGENT}/versions/1.0.0"
# Every form a number may have in JSON, next to the places where the shortest form changes its notation.
NUMBERS = (
    *("0", "-0", "-0.0", "1", "-1", "10", "1.0", "1.50", "100.00", "1E2", "1e+2", "1e-2", "0.1", "4.50", "2e-3"),
    *("1e20", "1e21", "1e22", "123456789012345680000.0", "295147905179352830000.0", "9007199254740993.0"),
    *("9007199254740991", "-9007199254740991", "1.0e-6", "0.000001", "1e-7", "0.0000001", "1e-27", "5e-324"),
    *("1.7976931348623157e308", "2.2250738585072014e-308", "333333333.33333329", "0.30000000000000004"),
)
TEXTS = (
    "",
    "é",
    "e\u0301",
    "ß",
    "İ",
    "😀",
    "\u2028\u2029",
    "\u0000",
    "\u001f\u007f\u0080",
    '\\"/\b\f\n\r\t',
    "\uffff",
    "中文",
    "\ue000",
)


@pytest.mark.rows("CAT-14")
async def test_the_digest_of_the_served_bytes_is_the_digest_of_the_card(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    digest = (await gateway.post("/v1/agents", a_card(), token=alice)).json["cardDigest"]
    await gateway.post(f"{VERSION}/publish", token=alice)
    first, second = await gateway.get(VERSION, token=bob), await gateway.get(VERSION, token=alice)
    assert first.body == second.body
    assert hashlib.sha256(first.body).hexdigest() == digest
    assert first.header("etag") == f'"{digest}"'
    assert first.header("content-type") == "application/json"
    assert first.header("cache-control") == "private, no-cache"
    head = await gateway.ask("HEAD", VERSION, token=bob)
    assert (head.status, head.body, head.header("etag")) == (200, b"", f'"{digest}"')
    assert head.header("content-length") == str(len(first.body))


@pytest.mark.rows("CAT-15")
async def test_an_independent_tool_finds_the_same_canonical_bytes(gateway: RunningUnit, alice: str) -> None:
    names = {text + "x": text for text in TEXTS}
    schema = {
        "type": "object",
        "examples": ["@numbers", TEXTS, names],
        "properties": {"€": {}, "\r": {}, "1": {}, "דּ": {}},
    }
    card = a_card(name='Ünïcödé 😀 \\ "', description=" a\u0001\u2028 ", skills=[a_skill(outputSchema=schema)])
    written = json.dumps(card, ensure_ascii=False).replace('"@numbers"', f"[{','.join(NUMBERS)}]")
    entry = await gateway.post("/v1/agents", written.encode(), token=alice)
    assert entry.status == 201, entry.body
    read = await gateway.get(VERSION, token=alice)
    assert read.body == rfc8785.dumps(json.loads(written))
    assert hashlib.sha256(read.body).hexdigest() == entry.json["cardDigest"]


@pytest.mark.rows("CAT-15")
async def test_the_same_content_spelled_otherwise_has_the_same_digest(gateway: RunningUnit, alice: str) -> None:
    skills = [a_skill(inputSchema={"enum": [100, "é/😀", {"b": 1, "a": [0.5]}]})]
    card = a_card(name="Größe", skills=skills)
    plain = json.dumps(card)
    spellings = [
        plain,
        json.dumps(card, ensure_ascii=False, indent=3, separators=(" ,", " : ")),
        json.dumps(_reversed(card), ensure_ascii=False),
        plain.replace("[100,", "[1e2,").replace("0.5", "5E-1"),
        plain.replace("/", "\\/").replace("Summarize", "\\u0053ummarize"),
        plain.replace("\\u00f6", "\\u00F6"),
    ]
    assert len(set(spellings)) == len(spellings)
    digests = set()
    for number, text in enumerate(spellings):
        agent = json.dumps(f"acme:{number}")
        reply = await gateway.post("/v1/agents", text.replace('"acme:summarizer"', agent).encode(), token=alice)
        assert reply.status == 201, reply.body
        served = (await gateway.get(f"/v1/agents/acme:{number}/versions/1.0.0", token=alice)).body
        assert hashlib.sha256(served).hexdigest() == reply.json["cardDigest"]
        digests.add(hashlib.sha256(served.replace(agent.encode(), b'"acme:summarizer"')).hexdigest())
    assert digests == {hashlib.sha256(rfc8785.dumps(card)).hexdigest()}


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(child) for key, child in reversed(value.items())}
    return [_reversed(child) for child in value] if isinstance(value, list) else value


@pytest.mark.rows("CAT-16")
@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', '{}, "other"', "*", '"a",W/{} ,"b"'])
async def test_a_known_etag_is_answered_without_a_body(gateway: RunningUnit, alice: str, form: str) -> None:
    entry = (await gateway.post("/v1/agents", a_card(), token=alice)).json
    tag = f'"{entry["cardDigest"]}"'
    sent = [(b"if-none-match", form.replace("{}", tag).encode())]
    for method in ("GET", "HEAD"):
        reply = await gateway.ask(method, VERSION, token=alice, headers=sent)
        assert (reply.status, reply.body, reply.header("etag")) == (304, b"", tag)
        assert reply.header("x-platform-publication-status") == "draft"
        assert reply.header("cache-control") == "private, no-cache"
        assert reply.header("content-type") is None


@pytest.mark.rows("CAT-16")
async def test_an_unknown_etag_is_answered_in_full_and_visibility_comes_first(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    entry = (await gateway.post("/v1/agents", a_card(), token=alice)).json
    digest = entry["cardDigest"]
    for text in (f'"{digest[:-1]}"', digest, f'"{digest.upper()}"', '""', "", ",,", "w/x"):
        sent = [(b"if-none-match", text.encode())]
        assert (await gateway.get(VERSION, token=alice, headers=sent)).status == 200, text
    known = [(b"if-none-match", f'"{digest}"'.encode())]
    require_error(await gateway.get(VERSION, token=bob, headers=known), 403, "FORBIDDEN", "2")
    await gateway.post(f"{VERSION}/publish", token=alice)
    assert (await gateway.get(VERSION, token=bob, headers=known)).status == 304
    await gateway.post(f"{VERSION}/disable", token=alice)
    for sent in (known, [(b"if-none-match", b"*")]):
        require_error(await gateway.get(VERSION, token=bob, headers=sent), 403, "FORBIDDEN", "2")
    unknown = VERSION.replace("1.0.0", "1.0.1")
    require_error(await gateway.get(unknown, token=bob, headers=known), 404, "NOT_FOUND", "2")


@pytest.mark.rows("CAT-28")
async def test_an_overview_shows_all_to_the_owner_and_the_published_to_others(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    for version in ("1.0.0", "1.10.0", "1.9.0"):
        await gateway.post("/v1/agents", a_card(version=version), token=alice)
    await gateway.post("/v1/agents", a_card(agent_id="acme:drafts"), token=alice)
    await gateway.post(f"{AGENT}/versions/1.0.0/publish", token=alice)
    await gateway.post(f"{AGENT}/versions/1.9.0/publish", token=alice)
    await gateway.post(f"{AGENT}/versions/1.9.0/disable", token=alice)
    own, others = await gateway.get(AGENT, token=alice), await gateway.get(AGENT, token=bob)
    assert [entry["version"] for entry in own.json["versions"]] == ["1.9.0", "1.10.0", "1.0.0"]
    assert [entry["version"] for entry in others.json["versions"]] == ["1.0.0"]
    assert own.json["agentId"] == "acme:summarizer"
    assert own.json["publicUrl"] == f"http://127.0.0.1:8082/a/{own.json['publicAgentId']}"
    for reply in (own, others):
        assert document("agent-overview/2").violations(reply.json) == ()
    require_error(await gateway.get("/v1/agents/acme:drafts", token=bob), 403, "FORBIDDEN", "2")
    require_error(await gateway.get("/v1/agents/acme:nothing", token=bob), 404, "NOT_FOUND", "2")


@pytest.mark.rows("CAT-28")
async def test_a_later_page_of_an_overview_tells_of_lost_visibility_as_the_first_does(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    for version in ("1.0.0", "2.0.0"):
        await gateway.post("/v1/agents", a_card(version=version), token=alice)
        await gateway.post(f"{AGENT}/versions/{version}/publish", token=alice)
    cursor = (await gateway.get(f"{AGENT}?limit=1", token=bob)).json["nextCursor"]
    second = f"{AGENT}?limit=1&cursor={cursor}"
    assert [entry["version"] for entry in (await gateway.get(second, token=bob)).json["versions"]] == ["1.0.0"]
    await gateway.post(f"{AGENT}/versions/1.0.0/disable", token=alice)
    assert (await gateway.get(second, token=bob)).json["versions"] == []
    await gateway.post(f"{AGENT}/versions/2.0.0/disable", token=alice)
    require_error(await gateway.get(second, token=bob), 403, "FORBIDDEN", "2")


@pytest.mark.parametrize(
    ("path", "pointers"),
    [
        ("/v1/agents/a%20b", {"/agentId"}),
        ("/v1/agents/.a", {"/agentId"}),
        ("/v1/agents/a/versions/1.0", {"/version"}),
        ("/v1/agents/a/versions/v1.0.0", {"/version"}),
        ("/v1/agents/a%2Fb/versions/1.0.0%0a", {"/agentId", "/version"}),
        ("/v1/agents/" + "a" * 129, {"/agentId"}),
        ("/v1/agents/%ff%fe", {"/agentId"}),
        ("/v1/agents/a%00", {"/agentId"}),
    ],
)
async def test_a_malformed_path_identifier_is_refused(
    gateway: RunningUnit, alice: str, path: str, pointers: set[str]
) -> None:
    told = broken(await gateway.get(path, token=alice))
    assert {pointer for pointer, _ in told} == pointers
