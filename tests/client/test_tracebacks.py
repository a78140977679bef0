"""What a program sees of a failed call: an error that ends at its own line and names the address and the reason."""

import asyncio
import socket
import ssl
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aop.client import (
    AuthoritiesNotUsable,
    Client,
    ClientError,
    DeadlinePassed,
    InvalidAddress,
    SyncClient,
    TokenNeeded,
    Unreachable,
)
from aop.net.http import ConnectFailed
from aop.net.origin import InvalidEndpoint
from tests.client.calling import TOKEN, calling, failure
from tests.client.gateway import WORKSPACE, saying, scripted_gateway
from tests.support.authority import Authority
from tests.support.peers import hold, reset, sending
from tests.support.waiting import generous


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def frames(error: BaseException) -> list[str]:
    """The files of the traceback below the test's own lines."""
    found = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return [name for name in found if name != __file__]


SYNC: dict[str, Callable[[SyncClient], Any]] = {
    "call": lambda client: client.read_workspace("demo"),
    "list": lambda client: next(iter(client.list_workspaces())),
    "page": lambda client: client.list_workspaces().page(),
    "whole": lambda client: client.read_trace("demo", "1" * 32),
    "stream": lambda client: next(client.stream("demo", "a", "b", {})),
    "block": lambda client: client.stream("demo", "a", "b", {}).__enter__(),
    "events": lambda client: next(iter(client.stream("demo", "a", "b", {}).events())),
    "publish": lambda client: client.publish({"agentId": "acme:adder", "version": "1.0.0"}),
}
ASYNC: dict[str, Callable[[Client], Any]] = {
    "call": lambda client: client.read_workspace("demo"),
    "list": lambda client: anext(aiter(client.list_workspaces())),
    "page": lambda client: client.list_workspaces().page(),
    "whole": lambda client: client.read_trace("demo", "1" * 32),
    "stream": lambda client: anext(client.stream("demo", "a", "b", {})),
    "block": lambda client: client.stream("demo", "a", "b", {}).__aenter__(),
    "publish": lambda client: client.publish({"agentId": "acme:adder", "version": "1.0.0"}),
}
MAX_FRAMES = 3
"""Of a generator that reads pages, and of `publish`, which is made of calls; a plain call has one."""


@pytest.mark.parametrize("use", SYNC.values(), ids=SYNC)
def test_a_traceback_ends_at_the_call_of_the_program(use: Callable[[SyncClient], Any]) -> None:
    url = closed_port()
    with SyncClient(url, TOKEN) as client, pytest.raises(Unreachable) as raised:
        use(client)
    require_brief(raised.value, url, 1 if use is SYNC["call"] else MAX_FRAMES)


@pytest.mark.parametrize("use", ASYNC.values(), ids=ASYNC)
async def test_an_awaited_traceback_ends_there_too(use: Callable[[Client], Any]) -> None:
    url = closed_port()
    async with Client(url, TOKEN) as client:
        with pytest.raises(Unreachable) as raised:
            await use(client)
    require_brief(raised.value, url, 1 if use is ASYNC["call"] else MAX_FRAMES)


def require_brief(error: ClientError, url: str, max_frames: int) -> None:
    assert len(frames(error)) <= max_frames, frames(error)
    shown = "".join(traceback.format_exception(error))
    assert "direct cause" not in shown
    assert "During handling" not in shown
    assert isinstance(error.cause, ConnectFailed)
    assert str(error) == f"no connection to the Gateway at {url}: the connection was refused; nothing listens there"


@pytest.mark.parametrize(
    "behave", [hold, reset, saying({}), sending(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n")]
)
async def test_every_error_without_an_answer_names_the_address(behave: Any) -> None:
    async with calling(behave, timeout=generous(0.2)) as (client, gateway):
        with pytest.raises(ClientError) as raised:
            await client.read_workspace("demo")
    assert gateway.origin in str(raised.value)


async def test_a_deadline_tells_the_time_and_the_trace_of_an_answer_that_had_begun() -> None:
    begun = b"HTTP/1.1 200 OK\r\nx-platform-trace-id: " + b"4" * 32 + b"\r\ncontent-length: 999\r\n\r\n{"

    async def stalling(request: Any) -> None:
        await request.send(begun)
        await request.wait_for_leaving()

    error = await failure(stalling, timeout=generous(0.2))
    assert isinstance(error, DeadlinePassed)
    assert (error.trace_id, " s" in str(error)) == ("4" * 32, True)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "agents.example", "localhost"])
def test_an_address_without_a_scheme_is_told_what_to_write(url: str) -> None:
    for kind in (Client, SyncClient):
        with pytest.raises(InvalidAddress, match=r"write http:// or https:// before it") as raised:
            kind(url)
        assert isinstance(raised.value, ClientError)
        assert isinstance(raised.value, InvalidEndpoint)
        assert f"'{url}'" in str(raised.value)


def test_an_address_with_a_password_is_not_repeated() -> None:
    with pytest.raises(InvalidAddress) as raised:
        Client("http://ada:hunter2@127.0.0.1:8080")
    assert "hunter2" not in str(raised.value)


def test_a_client_without_a_token_says_so_and_sends_nothing() -> None:
    with SyncClient(closed_port(), None) as client, pytest.raises(TokenNeeded, match="without an access token"):
        client.read_me()
    with SyncClient(closed_port(), "") as client, pytest.raises(TokenNeeded, match="visible ASCII"):
        client.read_me()


async def test_a_certificate_of_an_own_authority_needs_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    authority = Authority(tmp_path)
    async with scripted_gateway(saying(WORKSPACE), tls=authority.server_context("localhost")) as gateway:
        url = f"https://localhost:{gateway.port}"
        async with Client(url, TOKEN) as client:
            with pytest.raises(
                Unreachable, match=r"the certificate is not trusted; give the CA that issued it"
            ) as raised:
                await client.read_workspace("demo")
        assert "--ca FILE" in raised.value.recovery.action
        async with Client(url, TOKEN, ca=authority.roots) as client:
            assert (await client.read_workspace("demo")).owner_id == "alice"
        async with Client(f"https://127.0.0.1:{gateway.port}", TOKEN, ca=str(authority.roots)) as client:
            with pytest.raises(Unreachable, match="the certificate is for another name"):
                await client.read_workspace("demo")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.roots))

        def read() -> str:
            with SyncClient(url, TOKEN) as client:
                return client.read_workspace("demo").owner_id

        assert await asyncio.to_thread(read) == "alice"


async def test_https_to_a_gateway_without_tls_says_so() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with Client(f"https://127.0.0.1:{port}", TOKEN, tls=ssl.create_default_context()) as client:
            with pytest.raises(Unreachable, match="is it http:// instead of https://"):
                await client.read_workspace("demo")


def test_a_file_of_authorities_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    for path, problem in (("nowhere.pem", "cannot be read: No such file"), ("empty.pem", "holds no PEM certificate")):
        with pytest.raises(AuthoritiesNotUsable, match=problem):
            SyncClient("http://127.0.0.1:1", TOKEN, ca=tmp_path / path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    with pytest.raises(AuthoritiesNotUsable, match=r"nowhere\.pem \(SSL_CERT_FILE\) cannot be read"):
        SyncClient("https://127.0.0.1:1", TOKEN)
    SyncClient("http://127.0.0.1:1", TOKEN).close()  # no authority is needed there
    with pytest.raises(ValueError, match="tls or ca"):
        SyncClient("http://127.0.0.1:1", TOKEN, ca="x", tls=ssl.create_default_context())
