"""A Gateway whose certificate is of the company's own authority: --ca FILE, the profile, SSL_CERT_FILE."""

import json
import socket
import socketserver
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.conftest import Aop, Stack
from tests.support.authority import Authority

pytestmark = pytest.mark.second_ring

PIECE = 65536


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one of the two has left


@pytest.fixture
def gateway(stack: Stack, tmp_path: Path) -> Iterator[str]:
    """The address of the platform's own Gateway behind TLS."""
    context = Authority(tmp_path).server_context("localhost")
    port = int(stack.run["gateway"].rpartition(":")[2])

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                caller: Any = context.wrap_socket(self.request, server_side=True)
            except ssl.SSLError:
                return  # a caller who does not trust the certificate
            with caller, socket.create_connection(("127.0.0.1", port)) as unit:
                answers = Thread(target=pump, args=(unit, caller))
                answers.start()
                pump(caller, unit)
                answers.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()


def test_a_private_authority_is_given_saved_and_read_from_the_environment(
    alone: Aop, stack: Stack, gateway: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    roots = str(tmp_path / "roots.pem")
    user = {"AOP_GATEWAY": gateway, "AOP_TOKEN": stack.token}

    unknown = alone("login", "--gateway", gateway, stdin=stack.token)
    assert unknown.code == 3
    assert f"{gateway}: tls: the certificate is not trusted; give the CA that issued it" in unknown.err
    assert "--ca FILE" in unknown.err

    assert alone("status", "--ca", roots, **user).code == 0
    assert alone("status", SSL_CERT_FILE=roots, **user).code == 0
    assert alone("open", "--ca", roots, AOP_CONSOLE="http://127.0.0.1:1", **user).code == 0
    assert alone("token", "list", "--mine", "--ca", roots, **user).code == 0

    assert alone("login", "--gateway", gateway, "--ca", "roots.pem", stdin=stack.token).code == 0
    saved = json.loads((tmp_path / "config" / "aop" / "config.json").read_text())
    assert saved["profiles"]["default"]["ca"] == roots
    monkeypatch.chdir("/")
    assert alone("invocations", "--workspace", "demo").code == 0
    # The profile's own file comes before the one of the environment.
    assert alone("status", SSL_CERT_FILE="/nowhere.pem").code == 0
    assert alone("logout").code == 0

    missing = alone("status", SSL_CERT_FILE="/nowhere.pem", **user)
    assert missing.code == 1
    assert "the CA file /nowhere.pem (SSL_CERT_FILE) cannot be read: No such file or directory" in missing.err
    (tmp_path / "broken.pem").write_text("nothing")
    broken = alone("status", "--ca", str(tmp_path / "broken.pem"), "--json", **user).error
    assert (broken["code"], "holds no PEM certificate" in broken["message"]) == ("not_configured", True)
