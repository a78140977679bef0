"""Where the client connects: unreachable Gateways, certificates, several addresses, base URLs."""

import socket
from pathlib import Path

import pytest

from aop.client import (
    AnswerLost,
    Client,
    DeadlinePassed,
    Unreachable,
)
from aop.contracts.recovery import Situation, recoveries
from tests.client.calling import TOKEN
from tests.client.gateway import WORKSPACE, saying, scripted_gateway
from tests.support.authority import Authority
from tests.support.peers import Behaviour, hold, listening, reset, sending
from tests.support.waiting import generous


async def test_a_gateway_that_nobody_runs_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with Client(f"http://127.0.0.1:{port}", TOKEN) as client:
        with pytest.raises(Unreachable) as raised:
            await client.read_workspace("demo")
    assert raised.value.recovery == recoveries()[Situation.UNREACHABLE]
    assert f"http://127.0.0.1:{port}:" in str(raised.value)


async def test_a_name_without_an_address_is_unreachable() -> None:
    async with Client("http://gateway.invalid", TOKEN) as client:
        with pytest.raises(Unreachable, match=r"http://gateway\.invalid "):
            await client.within(5).read_workspace("demo")


async def test_a_certificate_must_be_of_a_trusted_root_or_of_one_the_caller_trusts(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with scripted_gateway(saying(WORKSPACE), tls=authority.server_context("localhost")) as gateway:
        url = f"https://localhost:{gateway.port}"
        async with Client(url, TOKEN) as distrustful:
            with pytest.raises(Unreachable, match="tls"):
                await distrustful.read_workspace("demo")
        async with Client(url, TOKEN, tls=authority.client_context()) as trusting:
            assert (await trusting.read_workspace("demo")).owner_id == "alice"


async def test_a_name_with_several_addresses_is_reached_at_the_one_that_listens() -> None:
    addresses = {str(entry[4][0]) for entry in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)}
    async with (
        scripted_gateway(saying(WORKSPACE), sorted(addresses)[0]) as gateway,
        Client(f"http://localhost:{gateway.port}", TOKEN) as client,
    ):
        assert (await client.read_workspace("demo")).owner_id == "alice"
        await client.read_workspace("demo")
    assert {request.connection for request in gateway.received} == {1}
    assert gateway.received[0].values("host") == [f"localhost:{gateway.port}"]


async def test_a_base_url_may_have_a_path() -> None:
    async with scripted_gateway(saying(WORKSPACE)) as gateway, Client(f"{gateway.origin}/aop/", TOKEN) as client:
        await client.read_workspace("demo")
    assert gateway.received[0].target == "/aop/v1/workspaces/demo"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://x", "http://u@x", "http://x?y", "http://x/../y"])
def test_a_base_url_is_an_http_or_https_address(url: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Client(url)


@pytest.fixture
def two_addresses(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name for two addresses of this machine."""

    def look_up(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        assert host == "gateway.test"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.1", "127.0.0.2")]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return "gateway.test"


@pytest.mark.parametrize("behave", [reset, sending(b""), hold], ids=["reset", "closed", "silent"])
async def test_a_request_that_was_sent_goes_to_no_other_address_whatever_became_of_it(
    behave: Behaviour, two_addresses: str
) -> None:
    async with (
        scripted_gateway(behave) as first,
        listening(first.meet, "127.0.0.2", port=first.port),
        Client(f"http://{two_addresses}:{first.port}", TOKEN, timeout=generous(0.2)) as client,
    ):
        with pytest.raises((AnswerLost, DeadlinePassed)):
            await client.create_workspace("demo")
        assert len(first.received) == 1


async def test_an_address_that_takes_no_connection_leads_to_the_next(two_addresses: str) -> None:
    async with (
        scripted_gateway(saying(WORKSPACE), "127.0.0.2") as second,
        Client(f"http://{two_addresses}:{second.port}", TOKEN) as client,
    ):
        assert (await client.read_workspace("demo")).owner_id == "alice"
        assert len(second.received) == 1
