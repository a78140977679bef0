"""The settings of a front: what is refused and how it is named, secrets and where they go, addresses at the start."""

import asyncio
import base64
import json
import logging
import ssl
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from aop.agent.testing import SignedRouter
from aop.base.settings import SettingsRefused
from aop.front.app import build
from aop.front.faults import UpstreamUnavailable
from aop.front.secrets import Roots, tls_context
from aop.front.settings import read_front_settings, resolve
from aop.front.upstream import Upstream, UpstreamRequest
from aop.net.origin import Endpoint
from aop.net.policy import Resolver
from aop.serving.unit.unit_settings import CannotStart
from tests.agent.served import message
from tests.front.played import PlayedAgent, before
from tests.front.served import card_of, served_front, settings_of
from tests.support.agent import a_task, saying
from tests.support.authority import Authority
from tests.support.peers import listening
from tests.support.waiting import PATIENCE_SECONDS

ORIGIN = "http://127.0.0.1:8099"
ROUTER = SignedRouter.new(ORIGIN)
SECRET = "canary-of-a-secret-5f1d"
BODY = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": message({})}


def behind(**members: Any) -> dict[str, Any]:
    return {"card": card_of(ORIGIN), "url": "http://127.0.0.1:9000/", "speaks": "a2a-1.0", **members}


def problems_of(folder: Path, *agents: dict[str, Any], **members: Any) -> dict[str, str]:
    with pytest.raises(SettingsRefused) as refused:
        resolve(settings_of(folder, ROUTER, agents, **members), folder, {})
    return {problem.name: problem.reason for problem in refused.value.problems}


def test_every_problem_is_named_at_once_and_no_value_is_repeated(tmp_path: Path) -> None:
    wrong = behind(url="ftp://canary.example/", authentication={"type": "bearer", "secretFile": "absent"})
    found = problems_of(tmp_path, wrong, behind(), behind(), listen="canary", challengeDirectory="nowhere")
    assert set(found) == {"/listen", "/challengeDirectory", "/agents/0", "/agents/0/url", "/agents/2/card"}
    assert "canary" not in "".join(found.values())


def test_a_card_that_names_another_endpoint_is_refused(tmp_path: Path) -> None:
    found = problems_of(tmp_path, behind(card=card_of("https://agents.example.com")))
    assert found == {"/agents/0/card": f"must have the endpoint {ORIGIN}/acme:old/1.0.0"}


def test_an_id_of_a_skill_that_the_card_has_not_is_refused(tmp_path: Path) -> None:
    found = problems_of(tmp_path, behind(skillIds=[{"skill": "other", "id": "Other!"}]))
    assert found == {"/agents/0/skillIds": "must name Skills of the Card"}


def test_a_service_has_a_route_for_each_skill_and_does_not_stream(tmp_path: Path) -> None:
    found = problems_of(tmp_path, behind(speaks="http", routes=[{"skill": "other", "path": "/x"}]))
    assert found.keys() == {"/agents/0/routes", "/agents/0/card"}


def test_a_file_that_breaks_its_schema_is_refused_by_pointer(tmp_path: Path) -> None:
    (tmp_path / "front.json").write_text(json.dumps({"agents": [{"card": "a", "url": "b", "speaks": SECRET}]}))
    with pytest.raises(SettingsRefused) as refused:
        read_front_settings(tmp_path / "front.json", {})
    assert [problem.name for problem in refused.value.problems] == ["/agents/0/speaks"]
    assert SECRET not in str(refused.value)


def test_the_router_may_come_from_the_environment(tmp_path: Path) -> None:
    trusted = {"agents": [behind() | {"card": "card-0.json"}], "origin": ORIGIN}
    settings_of(tmp_path, ROUTER, [behind()])
    (tmp_path / "front.json").write_text(json.dumps(trusted))
    found = read_front_settings(tmp_path / "front.json", ROUTER.environment(tmp_path))
    assert (found.trust.issuer, found.trust.audience) == (ROUTER.issuer, ORIGIN)
    with pytest.raises(SettingsRefused, match="PLATFORM_AGENT_ROUTER_ISSUER is required"):
        read_front_settings(tmp_path / "front.json", {})


AUTHENTICATION: dict[str, tuple[dict[str, str], str, str]] = {
    "API key": ({"type": "api_key", "header": "x-api-key"}, "x-api-key", SECRET),
    "bearer": ({"type": "bearer"}, "authorization", f"Bearer {SECRET}"),
    "basic": (
        {"type": "basic", "username": "front"},
        "authorization",
        "Basic " + base64.b64encode(f"front:{SECRET}".encode()).decode(),
    ),
}


@pytest.mark.rows("FRONT-03")
@pytest.mark.parametrize("in_file", [True, False], ids=["in a file", "in the settings"])
@pytest.mark.parametrize("name", AUTHENTICATION)
async def test_a_secret_reaches_the_agent_and_nobody_else(
    tmp_path: Path, name: str, in_file: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    members, header, value = AUTHENTICATION[name]
    (tmp_path / "secret").write_text(SECRET + "\n")
    members = {**members, **({"secretFile": "secret"} if in_file else {"secret": SECRET})}
    async with before(tmp_path, a_task("completed"), "a2a-0.3", authentication=members) as (front, agent):
        answers = [await front.post(BODY)]
        agent.behaviour = saying(b"no", 401)
        answers.append(await front.post(BODY))
    assert [answer.status for answer in answers] == [200, 502]
    assert all(request.values(header) == [value] for request in agent.received)
    shown = b"".join(answer.body for answer in answers).decode() + caplog.text + json.dumps(front.card)
    assert SECRET not in shown
    settings = settings_of(tmp_path, ROUTER, [behind(authentication=members)])
    assert SECRET not in repr(settings) + repr(resolve(settings, tmp_path, {}))


@pytest.mark.parametrize("header", ["traceparent", "x-platform-delegation", "host"])
def test_a_secret_takes_no_header_of_the_front(tmp_path: Path, header: str) -> None:
    members = {"type": "api_key", "header": header, "secret": SECRET}
    found = problems_of(tmp_path, behind(authentication=members))
    assert found == {"/agents/0": "authentication: the front writes this header itself"}


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://agent.example/", ["93.184.216.34"]),
        ("https://agent.example/", ["224.0.0.1"]),
        ("https://agent.example/", ["93.184.216.34", "127.0.0.1"]),
        ("https://agent.example/", []),
    ],
    ids=["public without TLS", "never contacted", "public and local", "no such name"],
)
async def test_an_address_that_may_not_be_contacted_stops_the_start(
    tmp_path: Path, url: str, addresses: list[str]
) -> None:
    found = resolve(settings_of(tmp_path, ROUTER, [behind(url=url)]), tmp_path, {})
    with pytest.raises(CannotStart, match="its address cannot be used"):
        await build(found, Resolver(lambda _: addresses))


async def test_a_name_that_was_public_cannot_become_local() -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    clock = iter(range(0, 1000, 10))
    resolver = Resolver(lambda _: next(answers), monotonic=lambda: float(next(clock)))
    upstream = Upstream(Endpoint.parse("https://agent.example/"), resolver)
    await upstream.judge()
    request = UpstreamRequest(b"{}", b"*/*", asyncio.get_running_loop().time() + PATIENCE_SECONDS, 10)
    with pytest.raises(UpstreamUnavailable, match="AddressRefused"):
        await upstream.open(request)
    await upstream.close()


@pytest.mark.rows("FRONT-03")
async def test_mutual_tls_with_an_authority_of_its_own(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = authority.server_context("localhost")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.roots)
    agent = PlayedAgent(a_task("completed"))
    certified = {"caFile": "roots.pem", "certificateFile": "server.pem", "keyFile": "server.pem"}
    async with listening(agent.meet, tls=context) as port:
        for tls, status in ((certified, 200), ({"caFile": "roots.pem"}, 502), (None, 502)):
            members: dict[str, Any] = {} if tls is None else {"tls": tls}
            async with served_front(tmp_path, f"https://localhost:{port}/", **members) as front:
                assert (await front.post(BODY)).status == status
    assert len(agent.received) == 1


async def test_the_environment_adds_a_private_authority_to_the_public_ones(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    agent = PlayedAgent(a_task("completed"))
    async with listening(agent.meet, tls=authority.server_context("localhost")) as port:
        for private, status in ((str(authority.roots), 200), (None, 502)):
            environment = {} if private is None else {"PLATFORM_CA_FILE": private}
            async with served_front(tmp_path, f"https://localhost:{port}/", environment=environment) as front:
                assert (await front.post(BODY)).status == status
    wrong = settings_of(tmp_path, ROUTER, [behind()])
    with pytest.raises(SettingsRefused, match="PLATFORM_CA_FILE must be a readable file of PEM certificates"):
        resolve(wrong, tmp_path, {"PLATFORM_CA_FILE": "/nowhere.pem"})


@pytest.mark.parametrize("named", ["SSL_CERT_FILE", "PLATFORM_CA_FILE"])
def test_authorities_of_both_names_are_trusted(tmp_path: Path, named: str) -> None:
    """SSL_CERT_FILE alone is in the place of the public ones, and PLATFORM_CA_FILE always with the others."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    both = {"SSL_CERT_FILE": Authority(tmp_path / "a").roots, "PLATFORM_CA_FILE": Authority(tmp_path / "b").roots}
    roots = Roots(str(both["SSL_CERT_FILE"]), both["PLATFORM_CA_FILE"])
    trusted = tls_context(UNSET, tmp_path, roots)
    assert trusted is not None
    (own,) = ssl.create_default_context(cafile=str(both[named])).get_ca_certs(binary_form=True)
    assert own in trusted.get_ca_certs(binary_form=True)
