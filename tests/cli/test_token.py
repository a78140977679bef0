"""`aop token` and `aop migrate` as an operator runs them."""

import os
import subprocess
import sys

import pytest

from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.token_store import make_code_on_store
from aop.control_plane.gateway.tokens import is_well_formed
from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring


def aop(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aop", *arguments],
        env={"PATH": os.defpath, "COLUMNS": "240", **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.rows("AUTH-04")
async def test_a_token_is_shown_once_listed_without_its_text_and_revoked(stores: DatabaseUrls) -> None:
    def token(*arguments: str) -> subprocess.CompletedProcess[str]:
        return aop("token", *arguments, PLATFORM_DATABASE_URL=stores.control_plane)

    created = token("create", "--principal", "alice", "--label", "laptop")
    assert created.returncode == 0
    text = created.stdout.splitlines()[-1]
    assert is_well_formed(text)
    listed = token("list")
    assert listed.returncode == 0
    assert "alice" in listed.stdout
    assert "laptop" in listed.stdout
    assert text not in listed.stdout
    token_id = next(word for word in created.stderr.split() if word.startswith("tok_"))
    assert token_id in listed.stdout
    assert token("revoke", token_id).returncode == 0
    unknown = token("revoke", "tok_unknown")
    assert (unknown.returncode, "no token has this id" in unknown.stderr) == (1, True)


def test_a_command_without_its_database_says_which_setting_it_needs() -> None:
    for arguments, setting in (
        (("token", "list"), "PLATFORM_DATABASE_URL"),
        (("migrate",), "PLATFORM_MIGRATION_DATABASE_URL"),
    ):
        ended = aop(*arguments, AOP_DATA="/nowhere")
        assert ended.returncode == 78
        assert f"{setting} is required and not set" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_dead_database_is_named_without_its_url() -> None:
    dead = "postgresql://nobody:canary-password@127.0.0.1:1/aop"
    for arguments in (("token", "list"), ("migrate",), ("release", "suspend", "rel_x", "--operator", "--yes")):
        ended = aop(*arguments, PLATFORM_DATABASE_URL=dead, PLATFORM_MIGRATION_DATABASE_URL=dead)
        assert ended.returncode == 1
        assert "ConnectionRefusedError" in ended.stderr
        assert "canary" not in ended.stderr + ended.stdout


@pytest.mark.parametrize("principal", ["", "a b", "-x", "x" * 129])
def test_a_principal_is_a_safe_identifier(principal: str) -> None:
    ended = aop("token", "create", f"--principal={principal}", PLATFORM_DATABASE_URL="postgresql://127.0.0.1:1/aop")
    assert (ended.returncode, "--principal" in ended.stderr) == (1, True)


@pytest.mark.rows("AUTH-05")
async def test_no_token_is_made_for_a_principal_of_the_openid_provider(stores: DatabaseUrls) -> None:
    def create(principal: str, prefix: str) -> subprocess.CompletedProcess[str]:
        settings = {"PLATFORM_DATABASE_URL": stores.control_plane, "PLATFORM_OIDC_PRINCIPAL_PREFIX": prefix}
        return aop("token", "create", "--principal", principal, **settings)

    refused = create("oidc:alice", "oidc:")
    assert (refused.returncode, "PLATFORM_OIDC_PRINCIPAL_PREFIX" in refused.stderr, refused.stdout) == (1, True, "")
    assert create("oidcalice", "oidc:").returncode == 0
    unreadable = create("alice", "no prefix")
    assert (unreadable.returncode, "PLATFORM_OIDC_PRINCIPAL_PREFIX must" in unreadable.stderr) == (78, True)
    assert "oidc:alice" not in aop("token", "list", PLATFORM_DATABASE_URL=stores.control_plane).stdout


@pytest.mark.rows("OPS-09")
async def test_migrate_says_what_it_applied_and_then_that_nothing_is_left(postgres: PostgresForTests) -> None:
    url = postgres.platform_urls(await postgres.new_database()).migration
    first, second = (aop("migrate", PLATFORM_MIGRATION_DATABASE_URL=url) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout.startswith("applied gateway 0001 access_tokens\n")
    assert second.stdout == "already at the current version\n"


def test_help_names_every_command() -> None:
    shown = aop("--help")
    assert shown.returncode == 0
    for command in ("up", "control-plane", "router", "migrate", "token"):
        assert command in shown.stdout
    assert aop("--version").stdout.startswith("aop ")


@pytest.mark.rows("AUTH-05")
async def test_no_code_is_made_for_a_principal_of_the_openid_provider(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_OIDC_PRINCIPAL_PREFIX", "oidc:")
    with pytest.raises(CommandProblem, match="PLATFORM_OIDC_PRINCIPAL_PREFIX"):
        await make_code_on_store(stores.control_plane, "oidc:alice")
    assert len((await make_code_on_store(stores.control_plane, "alice")).code) == 43
