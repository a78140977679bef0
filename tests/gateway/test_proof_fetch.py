"""The proof fetch: what an endpoint may answer, and what becomes of the Binding."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aop.local.state import DatabaseUrls
from tests.support.authority import Authority
from tests.support.endpoints import Visit, agent_endpoint, answering, resetting, sending, stalling
from tests.support.errors import require_error
from tests.support.publication import Scene, document_of, publication_scene, require_failure
from tests.support.waiting import generous, patience

HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores, PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS="60000") as scene:
        yield scene


@pytest.mark.rows("PUB-09")
async def test_other_bytes_and_other_statuses_are_a_wrong_proof_and_a_fresh_challenge_clears_it(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    for behave in (
        answering(b"0" * 64),
        answering(b""),
        answering(b"not found", 404),
        answering(b"broken", 500),
        answering(b"", 204),
        answering(b"partial", 206),
        answering(b"x" * 4097),
        answering(b"x" * 4096),
        sending(HEAD + b"transfer-encoding: chunked\r\n\r\n1001\r\n" + b"x" * 0x1001 + b"\r\n0\r\n\r\n"),
        sending(HEAD + b"\r\n" + b"x" * 100_000),
        answering(b"not allowed", 401, b"www-authenticate: Basic"),
        # The status decides, although the rest of the answer never comes.
        stalling(b"HTTP/1.1 404 Not Found\r\ncontent-length: 10\r\n\r\n"),
    ):
        scene.agent.behave = behave
        await require_failure(scene, binding, "wrong_proof")
    scene.agent.behave = None
    verified = await scene.alice.verify_binding(binding, scene.agent)
    assert verified["verificationStatus"] == "verified"
    assert "verificationFailureCode" not in verified


@pytest.mark.second_ring
@pytest.mark.rows("PUB-09")
@pytest.mark.parametrize(
    ("before", "after"), [(b"", b"\n"), (b"", b"\r\n"), (b" ", b""), (b"\xef\xbb\xbf", b""), (b'"', b'"')]
)
async def test_the_proof_with_anything_around_it_is_wrong(scene: Scene, before: bytes, after: bytes) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.alice.challenge(binding)
    scene.agent.behave = answering(before + challenge["proof"].encode() + after)
    require_error(await scene.alice.complete(challenge), 400, "WRONG_PROOF", "2")
    assert (await scene.alice.binding(binding))["verificationFailureCode"] == "wrong_proof"


@pytest.mark.second_ring
@pytest.mark.rows("PUB-09")
async def test_the_proof_of_another_challenge_or_in_capitals_or_under_another_status_is_wrong(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    other = await scene.alice.challenge(binding)
    for wrong in ("other", "capitals", "201"):
        challenge = await scene.alice.challenge(binding)
        proof = (other if wrong == "other" else challenge)["proof"].encode()
        scene.agent.behave = answering(proof.upper() if wrong == "capitals" else proof, 201 if wrong == "201" else 200)
        require_error(await scene.alice.complete(challenge), 400, "WRONG_PROOF", "2")


@pytest.mark.second_ring
async def test_the_request_is_a_bare_get_of_the_challenge_url_and_the_content_type_does_not_matter(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    binding = await scene.alice.new_binding(scene.agent.url)
    challenge = await scene.alice.challenge(binding)
    scene.agent.behave = answering(challenge["proof"].encode(), 200, b"content-type: application/octet-stream")
    document_of(await scene.alice.complete(challenge), 200, "endpoint-binding/1")
    (visit,) = scene.agent.visits
    assert visit.head.startswith(b"GET ")
    assert scene.agent.origin + visit.target == challenge["challengeUrl"]
    assert visit.header_values("host") == [f"agent.test:{scene.agent.port}"]
    assert visit.header_values("accept") == ["text/plain"]
    sent = {line.partition(b":")[0].lower() for line in visit.head.split(b"\r\n")[1:] if line}
    assert sent == {b"host", b"accept", b"accept-encoding"}


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
async def test_an_endpoint_that_gives_no_usable_answer_is_unavailable(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    for behave in (
        resetting,
        sending(b""),
        sending(b"SSH-2.0-OpenSSH_9.6\r\n"),
        sending(b"HTTP/2.0 200 OK\r\n\r\n"),
        sending(HEAD + b"content-length: 64\r\n\r\nshort"),
        sending(HEAD + b"transfer-encoding: chunked\r\n\r\n40\r\nshort"),
        sending(HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nxx"),
        sending(HEAD + b"x-filler: " + b"x" * 100_000 + b"\r\n\r\n"),
        sending(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"),
    ):
        scene.agent.behave = behave
        await require_failure(scene, binding, "endpoint_unavailable")


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
async def test_a_closed_port_is_unavailable(scene: Scene) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        binding = await scene.alice.new_binding(f"http://agent.test:{unused.getsockname()[1]}/")
        await require_failure(scene, binding, "endpoint_unavailable")


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
@pytest.mark.parametrize("said", [b"", HEAD, HEAD + b"content-length: 64\r\n\r\n" + b"0" * 63])
async def test_no_whole_answer_within_the_time_limit_is_unavailable(stores: DatabaseUrls, said: bytes) -> None:
    async with publication_scene(stores, PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS="300") as scene:
        binding = await scene.alice.new_binding(scene.agent.url)
        scene.agent.behave = stalling(said)
        started = asyncio.get_running_loop().time()
        await require_failure(scene, binding, "endpoint_unavailable")
        assert 0.3 <= asyncio.get_running_loop().time() - started < generous(2)


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
async def test_a_body_that_trickles_in_is_cut_at_the_time_limit(stores: DatabaseUrls) -> None:
    async def trickle(visit: Visit) -> None:
        await visit.send(HEAD + b"content-length: 4000\r\n\r\n")
        while True:
            await visit.send(b"x")
            await asyncio.sleep(0.05)

    async with publication_scene(stores, PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS="300") as scene:
        binding = await scene.alice.new_binding(scene.agent.url)
        scene.agent.behave = trickle
        async with patience():
            await require_failure(scene, binding, "endpoint_unavailable")


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
async def test_a_resolver_that_fails_or_answers_nothing_makes_the_endpoint_unavailable(scene: Scene) -> None:
    scene.names.answers["empty.test"] = [[]]
    for number, name in enumerate(("unknown.test", "empty.test")):
        binding = await scene.alice.new_binding(f"https://{name}/a2a", f"acme:agent-{number}")
        await require_failure(scene, binding, "endpoint_unavailable")


@pytest.mark.second_ring
@pytest.mark.rows("PUB-13")
async def test_a_certificate_that_proves_nothing_makes_the_endpoint_unavailable(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    (tmp_path / "stranger").mkdir()
    trusted, stranger = Authority(tmp_path), Authority(tmp_path / "stranger")
    contexts = {"another name": trusted.server_context("other.test"), "unknown": stranger.server_context("tls.test")}
    for number, (what, context) in enumerate(contexts.items()):
        async with (
            publication_scene(stores, authority=trusted) as scene,
            agent_endpoint("tls.test", tls=context) as there,
        ):
            scene.names.answers["tls.test"] = [["127.0.0.1"]]
            binding = await scene.alice.new_binding(there.url, f"acme:agent-{number}")
            await require_failure(scene, binding, "endpoint_unavailable")
            assert (there.connections, there.visits) == (1, []), what
    brief = {"PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS": "300"}
    async with publication_scene(stores, authority=trusted, **brief) as scene:  # no TLS where it is expected
        scene.names.answers["tls.test"] = [["127.0.0.1"]]
        binding = await scene.alice.new_binding(f"https://tls.test:{scene.agent.port}/", "acme:plain")
        await require_failure(scene, binding, "endpoint_unavailable")


@pytest.mark.rows("PUB-14")
@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308, 399])
async def test_a_redirect_is_not_followed(scene: Scene, status: int) -> None:
    async with agent_endpoint("elsewhere.test", "127.0.0.1") as target:
        binding = await scene.alice.new_binding(scene.agent.url)
        location = f"location: http://127.0.0.1:{target.port}/".encode()
        for body in (b"", b"x" * 10_000):
            scene.agent.behave = answering(body if status != 304 else b"", status, location)
            await require_failure(scene, binding, "redirect_not_allowed")
        scene.agent.behave = stalling(b"HTTP/1.1 %d Elsewhere\r\n%b\r\n\r\n" % (status, location))
        await require_failure(scene, binding, "redirect_not_allowed")
        assert target.connections == 0


@pytest.mark.second_ring
async def test_each_fetch_opens_its_own_connection_and_closes_it(scene: Scene) -> None:
    binding = await scene.alice.new_binding(scene.agent.url)
    for _ in range(3):
        await require_failure(scene, binding, "wrong_proof")
    assert scene.agent.connections == len(scene.agent.visits) == 3
