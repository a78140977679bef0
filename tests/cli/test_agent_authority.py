"""The commands that ask an Agent take the authority that issued its certificate: --ca FILE and SSL_CERT_FILE."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Aop
from tests.cli.test_agent_check import KEY, card_file
from tests.support.authority import Authority
from tests.support.foreign_agent import ForeignAgent, card_0_3, foreign_agent

pytestmark = pytest.mark.second_ring

UNTRUSTED = "tls: the certificate is not trusted; give the CA that issued it"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForeignAgent]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with foreign_agent(ForeignAgent(), tls=Authority(tmp_path).server_context("127.0.0.1")) as served:
        served.show(card_0_3(served.origin))
        yield served


def test_a_card_is_made_of_an_agent_card_behind_a_private_authority(
    alone: Aop, agent: ForeignAgent, tmp_path: Path
) -> None:
    roots, made = str(tmp_path / "roots.pem"), tmp_path / "card.json"
    command = ("card", "from-a2a", agent.origin, "--owner", "alice", "--yes")

    unknown = alone(*command, "--json")
    assert unknown.code == 3
    assert unknown.error["message"] == f"no connection to {agent.origin}: {UNTRUSTED}"
    assert "--ca FILE or SSL_CERT_FILE" in unknown.error["recovery"]
    assert not made.exists()

    for arguments, environment in ((("--ca", roots), {}), ((), {"SSL_CERT_FILE": roots})):
        assert alone(*command, *arguments, **environment).code == 0
        assert json.loads(made.read_text())["protocol"]["endpoint"].startswith(agent.origin)
        made.unlink()

    missing = alone(*command, "--ca", "/nowhere.pem")
    assert (missing.code, "the CA file /nowhere.pem cannot be read" in missing.err) == (1, True)


def test_an_agent_behind_a_private_authority_is_checked(alone: Aop, agent: ForeignAgent, tmp_path: Path) -> None:
    roots, card = str(tmp_path / "roots.pem"), card_file(tmp_path, f"{agent.origin}/")
    command = ("agent", "check", f"{agent.origin}/", "--card", card)

    unknown = alone(*command, **KEY)
    assert (unknown.code, unknown.out) == (3, "")
    assert UNTRUSTED in unknown.err
    assert "--ca FILE" in unknown.err

    for arguments, environment in ((("--ca", roots), {}), ((), {"SSL_CERT_FILE": roots})):
        rows = {
            row["check"]: row["passed"] for row in alone(*command, *arguments, "--json", **KEY, **environment).lines
        }
        # Each of the many requests goes over TLS; this Agent checks no credential, so most of them are not refused.
        assert rows["serves its public card"]
        assert rows["tasks/get of an unknown task: -32001"]
    wrong = alone(*command, SSL_CERT_FILE="/nowhere.pem", **KEY)
    assert (wrong.code, "the CA file /nowhere.pem (SSL_CERT_FILE) cannot be read" in wrong.err) == (1, True)
