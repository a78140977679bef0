"""Callers: the owner shares a Workspace with principals, who may then read and invoke, and takes it back."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.workspace.callers import MAX_CALLERS
from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner, Rows, crowd_of_callers, taken

RECORD = "workspace-caller/1"
INSTALL = {"agentId": "a", "versionConstraint": "*", "acceptedPermissions": []}
# Operations of a Workspace that need no Router; whoever may do them finds no such Installation or Agent.
FOR_CALLERS: Sequence[tuple[str, str, object, int]] = [
    ("GET", "/space", None, 200),
    ("GET", "/space/callers", None, 200),
    ("GET", "/space/installations", None, 200),
    ("GET", "/space/installations/inst_1", None, 404),
    ("POST", "/space/invocations", {"agentId": "a", "capability": "c", "input": {}, "stream": False}, 404),
]
FOR_OWNERS: Sequence[tuple[str, str, object, int]] = [
    ("POST", "/space/installations", INSTALL, 404),
    ("PATCH", "/space/installations/inst_1", {"status": "disabled"}, 404),
    ("DELETE", "/space/installations/inst_1", None, 404),
    ("PUT", "/space/callers/alice", None, 409),
    ("DELETE", "/space/callers/nobody", None, 404),
]


@pytest_asyncio.fixture
async def caller(gateway: RunningUnit, bob: str) -> Owner:
    """Bob, who is a caller once Alice has added him."""
    return Owner(gateway, bob)


async def records(owner: Owner, limit: int = 100) -> list[Any]:
    return [item for page in await owner.pages("/space/callers", limit) for item in page]


async def test_a_caller_is_added_once_removed_once_and_each_time_is_a_record(owner: Owner) -> None:
    first = await owner.add_caller("bob")
    assert (first["workspaceId"], first["principalId"], first["addedBy"]) == ("space", "bob", "alice")
    assert "removedAt" not in first
    assert taken(await owner.ask("PUT", "/space/callers/bob"), 200, RECORD) == first
    ended = await owner.remove_caller("bob")
    assert ended == first | {"removedAt": ended["removedAt"]}
    assert ended["removedAt"] > first["addedAt"]
    require_error(await owner.ask("DELETE", "/space/callers/bob"), 404, "NOT_FOUND", "3", "caller_unknown")
    second = await owner.add_caller("bob")
    assert second["addedAt"] >= ended["removedAt"]
    assert await records(owner) == [ended, second]


async def test_a_principal_is_not_looked_up_and_whatever_body_is_sent_is_ignored(owner: Owner) -> None:
    for body in (None, b"", b"{", {"role": "owner"}):
        reply = await owner.ask("PUT", "/space/callers/acme-sso:00u1b2c3", body)
        assert reply.status in {200, 201}
    assert [item["principalId"] for item in await records(owner)] == ["acme-sso:00u1b2c3"]
    for principal in ("-bob", "b" * 129, "b%20b", "%00"):
        for method in ("PUT", "DELETE"):
            reply = await owner.ask(method, f"/space/callers/{principal}")
            require_error(reply, 400, "VALIDATION_ERROR", "3")
            assert reply.json["violations"] == [{"pointer": "/principalId", "rule": "path_value"}]


@pytest.mark.rows("CALL-01", "WS-03")
async def test_owner_caller_removed_caller_and_stranger_get_exactly_their_answers(
    gateway: RunningUnit, owner: Owner, caller: Owner, stores: DatabaseUrls
) -> None:
    removed = Owner(gateway, (await issue_token(stores.control_plane, "carol")).token.reveal())
    stranger = Owner(gateway, (await issue_token(stores.control_plane, "mallory")).token.reveal())
    await owner.add_caller("bob")
    await owner.add_caller("carol")
    await owner.remove_caller("carol")
    for method, path, body, answer in (*FOR_CALLERS, *FOR_OWNERS):
        for one in (owner, caller) if (method, path, body, answer) in FOR_CALLERS else (owner,):
            assert (await one.ask(method, path, body)).status == answer, (method, path)
        for one in (removed, stranger):
            envelope = "4" if "invocations" in path else "3"
            require_error(await one.ask(method, path, body), 403, "FORBIDDEN", envelope, "not_caller")
        require_error(await gateway.ask(method, f"/v1/workspaces{path}", body), 401, "UNAUTHENTICATED", "3")
    for method, path, body, _ in FOR_OWNERS:
        require_error(await caller.ask(method, path, body), 403, "FORBIDDEN", "3", "not_owner")
    for one in (owner, caller, removed, stranger):
        require_error(await one.ask("GET", "/nowhere/callers"), 404, "NOT_FOUND", "3", "workspace_unknown")


async def test_the_owner_sees_every_record_in_pages_and_a_caller_its_own_alone(owner: Owner, caller: Owner) -> None:
    names = [f"p-{number:02}" for number in range(30, 0, -1)]
    for name in names:
        await owner.add_caller(name)
    await owner.remove_caller(names[3])
    await owner.add_caller("bob")
    await owner.remove_caller("bob")
    own = await owner.add_caller("bob")
    first = await owner.page("/space/callers")
    rest = await owner.page("/space/callers", f"?cursor={first['nextCursor']}")
    listed = first["items"] + rest["items"]
    assert [item["principalId"] for item in listed] == [*names, "bob", "bob"]
    assert [item["principalId"] for item in listed if "removedAt" in item] == [names[3], "bob"]
    assert (len(first["items"]), "nextCursor" in rest) == (25, False)
    assert await caller.page("/space/callers") == {"items": [own]}
    assert await caller.page("/space/callers", f"?cursor={first['nextCursor']}") == {"items": []}


@pytest.mark.rows("WS-04")
async def test_the_list_of_workspaces_has_those_one_may_call_with_the_role(owner: Owner, caller: Owner) -> None:
    for number in range(6):
        await (owner if number % 2 else caller).workspace(f"space-{number}")
    for number in (1, 3):
        await owner.add_caller("bob", f"space-{number}")
    await owner.add_caller("bob")
    await owner.remove_caller("bob")
    await owner.add_caller("bob")
    expected = [("space", "caller"), ("space-0", "owner"), ("space-1", "caller"), ("space-2", "owner")]
    expected += [("space-3", "caller"), ("space-4", "owner")]
    for limit in (1, 2, 4, 100):
        pages = await caller.pages("", limit)
        assert [(item["workspaceId"], item["role"]) for page in pages for item in page] == expected
        assert all(len(page) == limit for page in pages[:-1])
    for role in ("owner", "caller"):
        kept = [workspace_id for workspace_id, listed in expected if listed == role]
        assert [item["workspaceId"] for item in (await caller.page("", f"?role={role}"))["items"]] == kept
        first = await caller.page("", f"?role={role}&limit=2")
        rest = await caller.page("", f"?role={role}&limit=2&cursor={first['nextCursor']}")
        assert [item["workspaceId"] for item in first["items"] + rest["items"]] == kept
    assert {item["role"] for item in (await owner.page(""))["items"]} == {"owner"}
    await owner.remove_caller("bob", "space-1")
    assert "space-1" not in [item["workspaceId"] for item in (await caller.page(""))["items"]]


async def test_a_workspace_has_at_most_a_thousand_current_callers_however_they_are_added(
    owner: Owner, rows: Rows
) -> None:
    await rows.execute(crowd_of_callers("space", MAX_CALLERS - 1))
    replies = await all_answered(partial(owner.ask, "PUT", f"/space/callers/new-{number}") for number in range(20))
    assert Counter(reply.status for reply in replies) == {201: 1, 409: 19}
    for refused in (reply for reply in replies if reply.status == 409):
        require_error(refused, 409, "CONFLICT", "3", "caller_limit")
    assert (await owner.ask("PUT", "/space/callers/crowd-0001")).status == 200, "a current caller stays one"
    await owner.remove_caller("crowd-0001")
    await owner.add_caller("late")
    require_error(await owner.ask("PUT", "/space/callers/crowd-0001"), 409, "CONFLICT", "3", "caller_limit")
    assert len(await records(owner)) == MAX_CALLERS + 1


async def test_of_many_additions_and_removals_at_once_one_has_the_effect(owner: Owner) -> None:
    added = await all_answered([partial(owner.ask, "PUT", "/space/callers/bob")] * 30)
    assert Counter(reply.status for reply in added) == {201: 1, 200: 29}
    assert len({reply.body for reply in added}) == 1
    removed = await all_answered([partial(owner.ask, "DELETE", "/space/callers/bob")] * 30)
    assert Counter(reply.status for reply in removed) == {200: 1, 404: 29}
    assert len(await records(owner)) == 1
