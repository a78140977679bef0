"""`aop status`, `release suspend --operator`, `ledger check`, `router close` and their machine output."""

import pytest

from aop.cli.operator.status import _router
from aop.contracts.health import RouterHealth, RouterState
from tests.cli.conftest import Aop, Greeter, Stack

pytestmark = pytest.mark.second_ring


def test_a_router_that_does_not_number_says_nothing_of_others() -> None:
    """It does not know whether any does."""
    lines = [str(line) for line in _router(RouterState(status=RouterHealth.OK, instance_id="5f0c9be1a27d4e63"))]
    assert "this Router does not number the events" in lines[-1]
    assert "another" not in lines[-1]


def test_status_shows_each_unit_and_where_the_platform_was_found(aop: Aop, stack: Stack) -> None:
    shown = aop("status")
    assert shown.code == 0
    for text in (stack.run["gateway"], "local platform", "Control Plane   ok", "Router          ok", "live"):
        assert text in shown.out
    assert "the Router that answered (behind a balancer there may be others):" in shown.out
    found = aop("status", "--json").json
    (router,) = found.pop("routers")
    head = found.pop("ledgerHead", {"size": 1, "root": "0" * 64})  # absent until the first events have numbers
    assert head["size"] > 0
    assert len(bytes.fromhex(head["root"])) == 32
    assert found == {"controlPlane": "ok", "router": "ok", "topology": "live", "door": "ok"}
    assert (router["status"], router["facts"]) == ("ok", {"unconfirmed": 0, "deferred": 0, "denied": 0})
    for text in (f"Router {router['instanceId']}  ok", "live since 20", "0 of 2 processes busy, 0 waiting", "none"):
        assert text in shown.out


def test_a_token_of_the_local_platform_that_is_over_names_the_way_to_a_new_one(aop: Aop) -> None:
    refused = aop("status", "--json", AOP_TOKEN="aop_0000000000000000000000000000000000000000000")
    assert (refused.code, refused.error["code"]) == (1, "UNAUTHENTICATED")
    assert "aop up" in refused.error["recovery"]


def test_tokens_are_made_listed_and_revoked_as_documents(aop: Aop, stack: Stack) -> None:
    data = str(stack.platform.data)
    made = aop("token", "create", "--principal", "carol", "--label", "ci", "--data", data, "--json").json
    assert made["token"].startswith("aop_")
    listed = aop("token", "list", "--data", data, "--json").json["items"]
    (found,) = [item for item in listed if item["tokenId"] == made["tokenId"]]
    assert (found["principalId"], found["label"], "token" in found) == ("carol", "ci", False)
    nearby = aop("token", "list", "--json", AOP_DATA=data).json["items"]
    assert made["tokenId"] in [item["tokenId"] for item in nearby], "the platform that runs nearby is found"
    assert aop("token", "revoke", made["tokenId"], "--data", data, "--json").json["revoked"] is True
    unknown = aop("token", "revoke", "tok_unknown", "--data", data, "--json")
    assert (unknown.code, unknown.error["message"]) == (1, "no token has this id")


@pytest.mark.rows("SAFE-11")
def test_the_operator_stops_a_release_and_the_next_call_of_anybody_is_refused(
    aop: Aop, alone: Aop, stack: Stack, greeter: Greeter, workspace: str
) -> None:
    file, agent = greeter.card()
    release = aop("publish", file, "--json").json["releaseId"]
    assert aop("install", agent, "--workspace", workspace, "--yes").code == 0
    call = ("invoke", agent, "greet", "--example", "--workspace", workspace, "--json")
    assert aop(*call).code == 0
    # The operator has no token and no profile: the store's login is all.
    login = {"PLATFORM_DATABASE_URL": stack.run["databaseUrls"]["controlPlane"]}
    stopped = alone("release", "suspend", release, "--operator", "--yes", "--json", **login)
    assert (stopped.code, stopped.json["state"], stopped.json["suspendedBy"]) == (0, "suspended", "operator")
    # Whatever is called from now on is refused, not only what comes two seconds later.
    refused = aop(*call)
    assert (refused.code, refused.error["code"]) == (1, "AGENT_RELEASE_SUSPENDED")
    assert aop("release", "show", release, "--json").json == stopped.json
    assert "by the operator" in aop("release", "show", release).out
    again = alone("release", "suspend", release, "--operator", "--yes", "--json", **login)
    assert (again.code, again.error["code"], bool(again.error["recovery"])) == (1, "CONFLICT", True)


def test_an_operator_stops_a_release_of_a_data_folder_and_is_asked_first(aop: Aop, alone: Aop, stack: Stack) -> None:
    by = ("--operator", "--data", str(stack.platform.data), "--json")
    assert alone("release", "suspend", "rel_unknown", *by).error["code"] == "declined"
    assert alone("release", "suspend", "rel_unknown", "--yes", *by).error["code"] == "NOT_FOUND"
    assert aop("release", "suspend", "rel_unknown", "--operator", "--yes", "--json").error["code"] == "NOT_FOUND"
    unsafe = alone("release", "suspend", "no id", "--yes", *by).error
    assert (unsafe["code"], unsafe["violations"][0]["rule"]) == ("VALIDATION_ERROR", "path_value")
    assert alone("release", "suspend", "rel_x", "--yes", "--profile", "work", *by).code == 2


def test_the_ledger_is_checked_and_counted(aop: Aop, stack: Stack) -> None:
    aop("invoke", "aop:summarizer", "summarize", "--example")
    checked = aop("ledger", "check", "--data", str(stack.platform.data), "--json")
    assert checked.code == 0
    counts = checked.lines[-1]
    assert (counts["broken"], counts["checked"] >= 1) == (0, True)
    assert aop("ledger", "check", "--data", str(stack.platform.data)).out.rstrip().endswith("every invariant holds")
    assert aop("ledger", "check", "--since", "yesterday", "--data", str(stack.platform.data)).code == 2
    assert "too little" in aop("ledger", "recount", "--data", str(stack.platform.data)).out


def test_a_router_that_never_was_cannot_be_closed(aop: Aop, stack: Stack) -> None:
    done = aop("router", "close", "--router-id", "router-9", "--data", str(stack.platform.data), "--json")
    assert (done.code, "has ever written" in done.error["message"]) == (1, True)
    assert aop("router", "close", "--router-id", "not an id").code == 2


def test_migrations_are_told_as_a_document(aop: Aop, stack: Stack) -> None:
    urls = stack.run["databaseUrls"]
    done = aop("migrate", "--json", PLATFORM_MIGRATION_DATABASE_URL=urls["migration"])
    assert (done.code, done.json) == (0, {"applied": []})


def test_an_operators_command_without_its_setting_says_which(alone: Aop) -> None:
    for words, setting in (
        (("migrate",), "PLATFORM_MIGRATION_DATABASE_URL"),
        (("token", "list"), "PLATFORM_DATABASE_URL"),
        (("release", "suspend", "rel_x", "--operator", "--yes"), "PLATFORM_DATABASE_URL"),
        (("ledger", "check"), "PLATFORM_ROUTER_DATABASE_URL"),
    ):
        done = alone(*words, "--json")
        assert (done.code, setting in done.error["message"]) == (78, True)
