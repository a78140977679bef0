"""Where the proof fetch connects to: the judged address of the one look-up, with the host's TLS name, or nowhere."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.authority import Authority
from tests.support.endpoints import agent_endpoint
from tests.support.publication import Scene, publication_scene, require_failure

UNSPECIFIED = "0.0.0.0"  # noqa: S104  nothing is bound to it


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


@pytest.mark.rows("PUB-12")
async def test_a_name_that_resolves_to_a_refused_address_is_never_connected_to(scene: Scene) -> None:
    async with agent_endpoint("refused.test", "127.0.0.2") as there:
        for address in (
            "127.0.0.2",
            "10.0.0.1",
            "169.254.169.254",
            "::1",
            "::ffff:127.0.0.2",
            UNSPECIFIED,
            "no address",
        ):
            name = f"refused-{scene.numbers()}.test"
            scene.names.answers[name] = [[address]]
            url = f"https://{name}:{there.port}/a2a"
            binding = await scene.alice.new_binding(url, f"acme:agent-{scene.numbers()}")
            await require_failure(scene, binding, "disallowed_network")
        literal = await scene.alice.new_binding(f"http://127.0.0.2:{there.port}/", "acme:literal")
        await require_failure(scene, literal, "disallowed_network")
        assert there.connections == 0


@pytest.mark.rows("PUB-12")
async def test_one_refused_address_among_several_refuses_the_host(scene: Scene) -> None:
    async with agent_endpoint("many.test", "127.0.0.2") as there:
        scene.names.answers["many.test"] = [["93.184.216.34", "127.0.0.2"]]
        binding = await scene.alice.new_binding(f"https://many.test:{there.port}/")
        await require_failure(scene, binding, "disallowed_network")
        assert there.connections == 0


@pytest.mark.rows("PUB-12b")
async def test_a_public_host_with_a_plain_http_endpoint_is_refused(scene: Scene) -> None:
    scene.names.answers["public.test"] = [["93.184.216.34"]]
    binding = await scene.alice.new_binding("http://public.test/a2a")
    await require_failure(scene, binding, "disallowed_network")
    literal = await scene.alice.new_binding("http://93.184.216.34/a2a", "acme:literal")
    await require_failure(scene, literal, "disallowed_network")


@pytest.mark.rows("PUB-16")
async def test_an_allow_listed_host_may_be_local_but_not_mixed_nor_in_a_network_that_is_never_contacted(
    stores: DatabaseUrls,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.3", 0))
        port = probe.getsockname()[1]
    allowed = f'["agent.test", "ported.test:{port}", "127.0.0.3"]'
    async with (
        publication_scene(stores, PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed) as scene,
        agent_endpoint("127.0.0.3", "127.0.0.3", port=port) as there,
    ):
        names, alice = scene.names.answers, scene.alice
        names["ported.test"] = [["127.0.0.3"]]
        there.behave = None
        for number, url in enumerate((f"http://127.0.0.3:{port}/", f"http://ported.test:{port}/")):
            binding = await alice.new_binding(url, f"acme:local-{number}")
            assert (await alice.verify_binding(binding, there))["verificationStatus"] == "verified"
        assert there.connections == 2
        other = await alice.new_binding(f"http://ported.test:{scene.agent.port}/", "acme:other-port")
        await require_failure(scene, other, "disallowed_network")
        for number, answer in enumerate((["127.0.0.1", "93.184.216.34"], ["127.0.0.1", "192.0.2.1"], [UNSPECIFIED])):
            async with publication_scene(stores) as fresh:  # whose resolver remembers nothing
                fresh.names.answers["mixed.test"] = [answer]
                binding = await fresh.alice.new_binding(
                    f"http://mixed.test:{scene.agent.port}/", f"acme:mixed-{number}"
                )
                await require_failure(fresh, binding, "disallowed_network")
        assert (there.connections, scene.agent.connections) == (2, 0)


@pytest.mark.rows("PUB-17")
async def test_the_judged_address_is_dialed_although_a_second_look_up_would_differ(scene: Scene) -> None:
    async with agent_endpoint("changing.test", "127.0.0.2", port=scene.agent.port) as trap:
        scene.names.answers["changing.test"] = [["127.0.0.1"], ["127.0.0.2"]]
        binding = await scene.alice.new_binding(f"http://changing.test:{scene.agent.port}/")
        verified = await scene.alice.verify_binding(binding, scene.agent)
        assert verified["verificationStatus"] == "verified"
        assert scene.names.queries == ["changing.test"]
        assert (scene.agent.connections, trap.connections) == (1, 0)


@pytest.mark.rows("PUB-17")
async def test_only_the_first_judged_address_is_tried(scene: Scene) -> None:
    async with agent_endpoint("agent.test", "127.0.0.2") as second:
        scene.names.answers["agent.test"] = [["127.0.0.1", "127.0.0.2"]]
        binding = await scene.alice.new_binding(second.url)  # nobody listens on this port of 127.0.0.1
        await require_failure(scene, binding, "endpoint_unavailable")
        assert (second.connections, scene.names.queries) == (0, ["agent.test"])


@pytest.mark.rows("PUB-17")
async def test_tls_is_checked_against_the_host_name_and_no_proxy_is_used(
    stores: DatabaseUrls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    asked: list[str | None] = []
    context = authority.server_context("tls.test")
    context.sni_callback = lambda _object, name, _context: asked.append(name)
    async with (
        agent_endpoint("proxy.test") as proxy,
        agent_endpoint("tls.test", "127.0.0.2", tls=context) as there,
        publication_scene(stores, authority=authority) as scene,
    ):
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        scene.names.answers["tls.test"] = [["127.0.0.2"]]
        binding = await scene.alice.new_binding(there.url)
        assert (await scene.alice.verify_binding(binding, there))["verificationStatus"] == "verified"
        assert there.visits[0].header_values("host") == [f"tls.test:{there.port}"]
        assert (asked, proxy.connections, scene.names.queries) == (["tls.test"], 0, ["tls.test"])


async def test_without_a_file_of_authorities_the_usual_roots_decide(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.roots))  # nothing of the environment widens them
    async with agent_endpoint("tls.test", tls=authority.server_context("tls.test")) as there:
        scene.names.answers["tls.test"] = [["127.0.0.1"]]
        binding = await scene.alice.new_binding(there.url)
        await require_failure(scene, binding, "endpoint_unavailable")
        assert there.visits == []
