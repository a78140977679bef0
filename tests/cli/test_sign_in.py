"""Sign-in at the command line: links, codes at a hidden prompt, sessions that end at logout, one's own tokens."""

import json
from pathlib import Path

import pytest

from aop.client import PlatformError, SyncClient
from tests.cli.conftest import Aop, Stack
from tests.cli.terminal import at_terminal

pytestmark = pytest.mark.second_ring

CONSOLE = "http://127.0.0.1:9"


def code_of(link: str) -> str:
    address, _, code = link.partition("#code=")
    assert (address, len(code)) == (f"{CONSOLE}/", 43)
    return code


def a_code(stack: Stack) -> str:
    with SyncClient(stack.run["gateway"], stack.token) as client:
        return client.create_sign_in_code().code


def kept_token(tmp_path: Path) -> str:
    return str(json.loads((tmp_path / "config" / "aop" / "tokens.json").read_text())["default"])


def is_refused(stack: Stack, token: str) -> bool:
    with SyncClient(stack.run["gateway"], token) as client:
        try:
            client.read_me()
        except PlatformError as error:
            return error.code == "UNAUTHENTICATED"
    return False


@pytest.mark.rows("CALL-04")
def test_open_makes_a_link_that_signs_in_once_and_has_no_token(aop: Aop, stack: Stack) -> None:
    made = aop("open", "--json", AOP_CONSOLE=CONSOLE)
    code = code_of(made.json["link"])
    assert stack.token not in made.out + made.err
    with SyncClient(stack.run["gateway"]) as client:
        session = client.sign_in(code)
        assert session.principal_id == "local"
        with pytest.raises(PlatformError) as used:
            client.sign_in(code)
    assert used.value.reason == "sign_in_code"
    with SyncClient(stack.run["gateway"], session.token) as client:
        lasting = client.create_my_token("laptop", days=30)
        assert lasting.expires_at > session.expires_at  # the code was made in the database
        client.revoke_my_token(lasting.token_id)
        client.revoke_presented_token()
    assert aop("open", AOP_CONSOLE=CONSOLE).out.count(f"{CONSOLE}/#code=") == 1


def test_open_with_a_token_asks_the_gateway_and_says_what_it_lacks(aop: Aop, alone: Aop, stack: Stack) -> None:
    made = aop("open", "--json", AOP_CONSOLE=CONSOLE, AOP_TOKEN=stack.token)
    with SyncClient(stack.run["gateway"], stack.token) as client:
        session = client.sign_in(code_of(made.json["link"]))
        (found,) = [one for one in client.list_my_tokens() if one.expires_at == session.expires_at]
        assert found.ends_with == next(one.token_id for one in client.list_my_tokens() if one.current)
        client.revoke_my_token(found.token_id)
    assert "no Console is known" in aop("open").err
    reserved = aop("open", AOP_CONSOLE=CONSOLE, PLATFORM_OIDC_PRINCIPAL_PREFIX="l:")
    assert reserved.code == 0
    assert alone("open", "--profile", "nobody").code == 2


@pytest.mark.rows("CALL-06")
def test_a_code_at_the_prompt_gives_a_session_that_ends_at_logout(
    alone: Aop, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, where = a_code(stack), ("--gateway", stack.run["gateway"], "--console", CONSOLE)
    done = alone("login", *where, "--browser", stdin=f"{code}\n")
    assert (done.code, f"{CONSOLE}/sign-in-code" in done.err, "as local" in done.out) == (0, True, True)
    token = kept_token(tmp_path)
    for secret in (code, token):
        assert secret not in done.out + done.err
    shown = alone("token", "list", "--mine", "--json").json["items"]
    (own,) = [item for item in shown if item["current"]]
    assert own["madeBy"] == "code"
    again = alone("login", *where, "--browser", "--json", stdin=code)
    assert (again.code, again.error["code"], again.error["reason"]) == (1, "UNAUTHENTICATED", "sign_in_code")
    assert f"{CONSOLE}/sign-in-code" in again.error["recovery"]
    assert code not in again.out + again.err
    assert kept_token(tmp_path) == token
    assert alone("open", "--json").json["console"] == CONSOLE  # the profile keeps it
    assert alone("logout", "--json").json["revoked"] is True
    assert is_refused(stack, token)


def test_a_code_is_not_shown_while_it_is_typed(stack: Stack, tmp_path: Path) -> None:
    code = a_code(stack)
    where = ("--gateway", stack.run["gateway"], "--console", CONSOLE)
    typed = at_terminal("login", *where, "--browser", answers={"Code:": f"{code}\n"}, folder=tmp_path)
    assert (typed.code, code in typed.screen, kept_token(tmp_path) in typed.screen) == (0, False, False)


def test_logout_leaves_other_tokens_unless_told_and_a_silent_gateway_keeps_nobody(
    alone: Aop, stack: Stack, tmp_path: Path
) -> None:
    with SyncClient(stack.run["gateway"], stack.token) as client:
        made = client.create_my_token("a build server").token
    where = ("--gateway", stack.run["gateway"])
    assert alone("login", *where, stdin=made).code == 0
    assert alone("logout", "--json").json["revoked"] is False
    assert not is_refused(stack, made)
    assert alone("login", *where, stdin=made).code == 0
    assert alone("logout", "--revoke", "--json").json["revoked"] is True
    assert is_refused(stack, made)
    alone("login", *where, "--console", CONSOLE, "--browser", stdin=a_code(stack))
    config = tmp_path / "config" / "aop" / "config.json"
    config.write_text(config.read_text().replace(stack.run["gateway"], CONSOLE))
    assert alone("logout", "--revoke").code == 3
    left = alone("logout")
    assert (left.code, "was not revoked" in left.err) == (0, True)
    assert alone("login", "--gateway", stack.run["gateway"], "--browser", stdin="x").code == 2  # no Console is known


def test_own_tokens_are_made_listed_and_revoked_without_the_database(alone: Aop, stack: Stack) -> None:
    user = {"AOP_GATEWAY": stack.run["gateway"], "AOP_TOKEN": stack.token}
    made = alone("token", "create", "--mine", "--label", "laptop", "--days", "1", "--json", **user).json
    shown = alone("token", "list", "--mine", **user).out
    (line,) = [line for line in shown.splitlines() if made["tokenId"] in line]
    assert "laptop" in line
    assert "token" in line
    assert made["token"] not in shown
    (current,) = [line for line in shown.splitlines() if line.lstrip().startswith("*")]
    assert "operator" in current
    assert alone("token", "revoke", made["tokenId"], "--mine", "--json", **user).json["revokedAt"]
    assert is_refused(stack, made["token"])
    unknown = alone("token", "revoke", "tok_unknown", "--mine", "--json", **user)
    assert (unknown.code, unknown.error["reason"]) == (1, "token_unknown")
    for wrong in (("--mine",), ("--mine", "--label", "x", "--principal", "bob"), (), ("--label", "x" * 129)):
        assert alone("token", "create", *wrong, **user).code == 2
    assert alone("token", "list", "--profile", "x").code == 2


def test_the_operators_list_has_sessions_and_who_made_each(aop: Aop, stack: Stack) -> None:
    code = code_of(aop("open", "--json", AOP_CONSOLE=CONSOLE).json["link"])
    with SyncClient(stack.run["gateway"]) as client:
        client.sign_in(code)
    listed = aop("token", "list", "--json").json["items"]
    assert {"operator", "code"} <= {item["madeBy"] for item in listed}
    assert code not in json.dumps(listed)
