"""A Workspace that is shared: callers are added, listed and removed; they use it, and the owner alone changes it."""

import pytest

from tests.cli.conftest import Aop, Stack

pytestmark = pytest.mark.second_ring

SUM = ("aop:summarizer", "summarize", '{"text": "One. Two."}')


@pytest.fixture
def as_caller(aop: Aop, alone: Aop, stack: Stack) -> Aop:
    """The command of another principal on the same Gateway, who owns nothing."""
    made = aop("token", "create", "--principal", "carol", "--json", "--data", str(stack.platform.data))
    settings = {"AOP_TOKEN": made.json["token"], "AOP_GATEWAY": stack.run["gateway"]}
    return lambda *arguments, stdin=None, **environment: alone(*arguments, stdin=stdin, **settings, **environment)


def test_a_caller_is_added_uses_the_workspace_and_is_removed(aop: Aop, as_caller: Aop, workspace: str) -> None:
    space = ("-w", workspace)
    assert aop("install", "aop:summarizer", *space, "--yes").code == 0
    refused = as_caller("invoke", *SUM, *space, "--json")
    assert (refused.code, refused.error["code"], refused.error["reason"]) == (1, "FORBIDDEN", "not_caller")
    assert "aop workspace callers add" in as_caller("invoke", *SUM, *space).err
    told = aop("workspace", "callers", "add", "carol", *space)
    assert (told.code, told.out) == (0, f"carol may call in the Workspace {workspace}\n")
    record = aop("workspace", "callers", "add", "carol", *space, "--json").json
    assert aop("workspace", "callers", "list", *space, "--json").json == {"items": [record]}
    assert as_caller("workspace", "callers", "list", *space, "--json").json == {"items": [record]}

    assert as_caller("invoke", *SUM, *space).code == 0
    assert as_caller("trace", "--last", *space).code == 0
    assert "aop:summarizer" in as_caller("installations", *space).out
    listed = as_caller("workspace", "list", "--json").json["items"]
    assert [(one["workspaceId"], one["role"]) for one in listed] == [(workspace, "caller")]
    for command in (("disable", "aop:summarizer"), ("workspace", "callers", "add", "dave")):
        changed = as_caller(*command, *space, "--json")
        assert (changed.code, changed.error["reason"]) == (1, "not_owner")

    ended = aop("workspace", "callers", "remove", "carol", *space, "--json").json
    assert ended == record | {"removedAt": ended["removedAt"]}
    assert as_caller("invoke", *SUM, *space, "--json").error["reason"] == "not_caller"
    again = aop("workspace", "callers", "remove", "carol", *space, "--json")
    assert (again.code, again.error["reason"]) == (1, "caller_unknown")
    assert aop("workspace", "callers", "list", *space).out == f"{workspace} has no callers\n"
    assert aop("workspace", "callers", "list", "--all", *space, "--json").json == {"items": [ended]}


def test_no_command_chooses_a_shared_workspace_by_itself(aop: Aop, as_caller: Aop, workspace: str) -> None:
    assert aop("workspace", "callers", "add", "carol", "-w", workspace).code == 0
    done = as_caller("installations", "--json")
    assert (done.code, done.error["code"]) == (1, "no_workspace")
    assert "--workspace" in done.error["recovery"]
    assert as_caller("login", "--json").json["workspace"] is None
