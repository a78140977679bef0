"""Profiles, tokens and the choice of a platform: what is used, what is kept, and what is never shown."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from aop.local.ports import any_free_port
from tests.cli.conftest import Aop, Stack

pytestmark = pytest.mark.second_ring

HEALTHY = {"controlPlane": "ok", "router": "ok", "topology": "live"}
UNKNOWN_TOKEN = "aop_0000000000000000000000000000000000000000000"


def files(tmp_path: Path) -> Path:
    return tmp_path / "config" / "aop"


def test_a_token_from_the_standard_input_is_tried_and_kept_where_only_its_owner_reads(
    alone: Aop, stack: Stack, tmp_path: Path
) -> None:
    done = alone("login", "--gateway", stack.run["gateway"], stdin=f"{stack.token}\n")
    assert done.code == 0, done.err
    assert stack.token not in done.out + done.err
    assert (files(tmp_path) / "tokens.json").stat().st_mode & 0o777 == 0o600
    assert stack.token not in (files(tmp_path) / "config.json").read_text()
    shown = alone("status")
    assert (shown.code, "profile default" in shown.out) == (0, True)


def test_a_token_from_the_environment_is_kept_as_well(alone: Aop, stack: Stack) -> None:
    settings = {"AOP_TOKEN": stack.token, "AOP_GATEWAY": stack.run["gateway"]}
    kept = alone("login", "--profile", "work", "--json", **settings).json
    assert (kept["profile"], kept["gateway"]) == ("work", stack.run["gateway"])
    assert alone("workspace", "list", "--json").json["items"][0]["workspaceId"] == "demo"


def test_a_token_that_is_not_accepted_is_not_kept(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    done = alone("login", "--gateway", stack.run["gateway"], stdin=UNKNOWN_TOKEN)
    assert (done.code, "UNAUTHENTICATED" in done.err, "aop login" in done.err) == (1, True, True)
    assert not files(tmp_path).exists()
    assert UNKNOWN_TOKEN not in done.out + done.err


@pytest.mark.parametrize("text", ["", "two words", "ümlaut"])
def test_what_is_no_token_is_refused_without_repeating_it(alone: Aop, stack: Stack, text: str) -> None:
    done = alone("login", "--gateway", stack.run["gateway"], "--json", stdin=text)
    assert (done.code, "one word of visible ASCII" in done.error["message"]) == (1, True)
    assert not text or text not in done.err


def test_no_command_takes_a_token_as_an_argument(alone: Aop) -> None:
    assert alone("login", "--token", UNKNOWN_TOKEN).code == 2


def test_a_gateway_that_does_not_answer_ends_with_its_own_code_and_keeps_nothing(alone: Aop, tmp_path: Path) -> None:
    done = alone("login", "--gateway", f"http://127.0.0.1:{any_free_port()}", "--json", stdin=UNKNOWN_TOKEN)
    assert (done.code, done.error["code"]) == (3, "unreachable")
    assert done.error["recovery"]
    assert not files(tmp_path).exists()


def test_an_address_that_is_none_is_wrong_usage(alone: Aop) -> None:
    assert alone("login", "--gateway", "agents.example", stdin=UNKNOWN_TOKEN).code == 2


def test_profiles_are_listed_chosen_and_forgotten(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert alone("login", "--gateway", stack.run["gateway"], "--profile", name, stdin=stack.token).code == 0
    assert [item["current"] for item in alone("profiles", "--json").json["items"]] == [False, True]
    assert alone("profiles", "one", "--json").json["items"][0]["current"] is True
    assert alone("profiles", "three").code == 2
    assert alone("status", "--profile", "two").code == 0
    assert alone("status", AOP_PROFILE="three").code == 2
    assert alone("logout", "--json").json == {"forgotten": "one", "current": "two", "revoked": False}
    assert alone("logout").code == 0
    assert alone("logout").code == 1
    assert stack.token not in (files(tmp_path) / "tokens.json").read_text()


def test_tokens_that_others_can_read_are_not_used(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    alone("login", "--gateway", stack.run["gateway"], stdin=stack.token)
    (files(tmp_path) / "tokens.json").chmod(0o644)
    done = alone("status")
    assert (done.code, "chmod 600" in done.err) == (1, True)


def test_a_damaged_file_is_named_without_its_content(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    alone("login", "--gateway", stack.run["gateway"], stdin=stack.token)
    (files(tmp_path) / "tokens.json").write_text(f'{{"default": "{stack.token}"')
    done = alone("status")
    assert (done.code, "tokens.json is damaged" in done.err, stack.token in done.err) == (1, True, False)


def test_of_two_tokens_for_one_profile_none_is_used(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    alone("login", "--gateway", stack.run["gateway"], stdin=stack.token)
    kept = files(tmp_path) / "tokens.json"
    kept.write_text(kept.read_text().replace("{", '{"default": "another",', 1))
    done = alone("status")
    assert (done.code, "tokens.json is damaged" in done.err) == (1, True)


def test_without_a_profile_and_a_platform_the_two_ways_in_are_told(alone: Aop) -> None:
    done = alone("search", "--json")
    assert (done.code, done.error["code"]) == (1, "not_configured")
    assert "aop up" in done.error["recovery"]
    assert "aop login" in done.error["recovery"]


def test_a_local_platform_is_found_from_a_folder_below_it_without_configuration(
    alone: Aop, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".aop").symlink_to(stack.platform.data)
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    from aop.cli.shell.destination import find_local  # noqa: PLC0415

    found = find_local(Path.cwd(), {})
    assert found is not None
    assert found.run.gateway == stack.run["gateway"]


def test_a_data_folder_without_a_platform_is_named(alone: Aop, tmp_path: Path) -> None:
    done = alone("status", "--data", str(tmp_path / "nothing"), "--json")
    assert (done.code, done.error["code"]) == (1, "not_running")


def test_a_profile_comes_before_the_platform_nearby_and_the_environments_token_before_both(
    aop: Aop, alone: Aop, stack: Stack
) -> None:
    alone("login", "--gateway", stack.run["gateway"], "--profile", "mine", stdin=stack.token)
    assert "profile mine" in aop("status").out
    refused = aop("status", "--json", AOP_TOKEN=UNKNOWN_TOKEN)
    assert (refused.code, refused.error["code"]) == (1, "UNAUTHENTICATED")
    assert "local platform" in aop("status", "--data", str(stack.platform.data)).out


def without_routers(status: dict[str, Any]) -> dict[str, Any]:
    """Each of them has a name that is drawn at its start, and times."""
    assert [router["status"] for router in status.pop("routers")] == ["ok"]
    return status


def test_a_gateway_in_the_environment_needs_a_token_there_too(alone: Aop, stack: Stack) -> None:
    assert "AOP_TOKEN" in alone("status", AOP_GATEWAY=stack.run["gateway"]).err
    shown = alone("status", "--json", AOP_GATEWAY=stack.run["gateway"], AOP_TOKEN=stack.token)
    assert (shown.code, without_routers(shown.json)) == (0, HEALTHY)


def test_the_status_of_a_platform_nearby_has_its_door(aop: Aop, stack: Stack) -> None:
    data = ("--data", str(stack.platform.data))
    assert without_routers(aop("status", *data, "--json").json) == HEALTHY | {"door": "ok"}
    os.kill(stack.run["pids"]["door"], signal.SIGSTOP)
    try:
        stopped = aop("status", *data, "--json")
    finally:
        os.kill(stack.run["pids"]["door"], signal.SIGCONT)
    assert (stopped.code, without_routers(stopped.json)) == (1, HEALTHY | {"door": "unavailable"})


def test_workspaces_are_made_listed_and_chosen(aop: Aop, stack: Stack) -> None:
    name = stack.new_id("team")
    assert aop("workspace", "create", name, "--json").json["workspaceId"] == name
    taken = aop("workspace", "create", name)
    assert (taken.code, f"aop workspace use {name}" in taken.err) == (1, True)
    assert aop("workspace", "use", name).code == 0
    assert f"*  {name}" in aop("workspace", "list").out
    assert "nothing is installed" in aop("installations").out
    assert aop("workspace", "use", stack.new_id("nowhere"), "--json").error["code"] == "NOT_FOUND"
    assert aop("installations", "--workspace", "demo", "--json").json["items"]
    assert "aop:summarizer" in aop("installations", AOP_WORKSPACE="demo").out


def test_a_chosen_workspace_is_kept_in_the_profile(alone: Aop, stack: Stack, tmp_path: Path) -> None:
    alone("login", "--gateway", stack.run["gateway"], stdin=stack.token)
    assert alone("workspace", "use", "demo").code == 0
    kept = json.loads((files(tmp_path) / "config.json").read_text())
    assert kept["profiles"]["default"]["workspace"] == "demo"
