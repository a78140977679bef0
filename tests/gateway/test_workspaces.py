"""Workspaces: created once, read by no stranger, listed in the order of creation."""

import base64
import hashlib
import json
from functools import partial

import pytest

from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner, Rows

BROKEN_BODIES: list[tuple[object, tuple[str, str]]] = [
    ({"workspaceId": "w", "ownerId": "bob"}, ("", "additional_member")),
    ({}, ("/workspaceId", "required")),
    ({"workspaceId": None}, ("/workspaceId", "type")),
    ({"workspaceId": "-w"}, ("/workspaceId", "pattern")),
    ({"workspaceId": "w" * 129}, ("/workspaceId", "pattern")),
    (b'{"workspaceId":"w","workspaceId":"w"}', ("", "duplicate_member")),
    (b"[]", ("", "type")),
    (b"{", ("", "json_syntax")),
]
BROKEN_QUERIES = {
    "?limit=0": ("/limit", "query_value"),
    "?limit=101": ("/limit", "query_value"),
    "?limit=": ("/limit", "query_value"),
    "?limit=5&limit=5": ("/limit", "query_repeated"),
    "?owner=bob": ("", "query_unknown"),
    "?role=stranger": ("/role", "query_value"),
    "?role=": ("/role", "query_value"),
    "?cursor=": ("/cursor", "query_value"),
    "?cursor=abc": ("/cursor", "cursor"),
    "?cursor=%": ("", "query_value"),
}
LIKELY_POSITION = ["2026-01-01T00:00:00Z", "a"]
MADE_UP_POSITIONS = [
    LIKELY_POSITION,
    [-1, "a"],
    [2**63, "a"],
    ["10000-01-01T00:00:00Z", "a"],
    ["2026-01-01T00:00:00", "a"],
    ["2026-01-01T00:00:00Z", "a\0"],
    ["2026-01-01T00:00:00Z", ""],
    ["2026-01-01T00:00:00Z", "a\n"],
    ["1", "a"],
    ["2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "a", 2],
    {},
    [1.5, "a"],
    None,
]


@pytest.fixture
def owner(gateway: RunningUnit, alice: str) -> Owner:
    return Owner(gateway, alice)


@pytest.fixture
def other(gateway: RunningUnit, bob: str) -> Owner:
    return Owner(gateway, bob)


@pytest.mark.rows("WS-01")
async def test_a_workspace_belongs_to_the_caller_who_created_it(owner: Owner) -> None:
    created = await owner.workspace("space")
    assert (created["workspaceId"], created["ownerId"]) == ("space", "alice")
    assert created["createdAt"] == created["updatedAt"]
    assert (await owner.ask("GET", "/space")).json == created


@pytest.mark.rows("WS-01")
async def test_a_body_that_breaks_the_contract_creates_nothing(owner: Owner) -> None:
    for body, violation in BROKEN_BODIES:
        reply = await owner.ask("POST", "", body)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert violation in [(item["pointer"], item["rule"]) for item in reply.json["violations"]]
    assert (await owner.page(""))["items"] == []


async def test_a_body_over_the_limit_is_refused(owner: Owner) -> None:
    body = b'{"workspaceId":"w"' + b" " * 1_048_576 + b"}"
    require_error(await owner.ask("POST", "", body), 413, "PAYLOAD_TOO_LARGE", "3")


@pytest.mark.rows("WS-02")
async def test_a_taken_id_is_a_conflict_for_everyone_its_owner_too(owner: Owner, other: Owner) -> None:
    created = await owner.workspace()
    for caller in (owner, other):
        require_error(await caller.ask("POST", "", {"workspaceId": "space"}), 409, "CONFLICT", "3")
    assert (await owner.ask("GET", "/space")).json == created


@pytest.mark.rows("WS-02")
async def test_of_a_hundred_creations_at_once_one_makes_the_workspace(owner: Owner, other: Owner) -> None:
    rivals = [partial(each.ask, "POST", "", {"workspaceId": "space"}) for each in (owner, other)]
    replies = await all_answered(rivals * 50)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 99
    mine, theirs = await owner.page(""), await other.page("")
    assert len(mine["items"]) + len(theirs["items"]) == 1


@pytest.mark.rows("WS-03")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/{}", None),
        ("GET", "/{}/callers", None),
        ("PUT", "/{}/callers/carol", None),
        ("DELETE", "/{}/callers/carol", None),
        ("POST", "/{}/installations", {"agentId": "a", "versionConstraint": "*", "acceptedPermissions": []}),
        ("GET", "/{}/installations", None),
        ("GET", "/{}/installations/inst_1", None),
        ("PATCH", "/{}/installations/inst_1", {"status": "enabled"}),
        ("DELETE", "/{}/installations/inst_1", None),
    ],
)
async def test_an_unknown_workspace_is_not_found_and_a_foreign_one_forbidden(
    owner: Owner, other: Owner, method: str, path: str, body: object
) -> None:
    await owner.workspace()
    require_error(await other.ask(method, path.format("nowhere"), body), 404, "NOT_FOUND", "3")
    require_error(await other.ask(method, path.format("space"), body), 403, "FORBIDDEN", "3", "not_caller")
    require_error(await other.ask(method, path.format("-"), body), 400, "VALIDATION_ERROR", "3")


async def test_every_route_asks_for_a_token(gateway: RunningUnit) -> None:
    for method, path in (
        ("POST", ""),
        ("GET", ""),
        ("GET", "/space"),
        ("GET", "/space/callers"),
        ("PUT", "/space/callers/carol"),
        ("DELETE", "/space/callers/carol"),
        ("POST", "/space/installations"),
        ("GET", "/space/installations"),
        ("GET", "/space/installations/inst_1"),
        ("PATCH", "/space/installations/inst_1"),
        ("DELETE", "/space/installations/inst_1"),
    ):
        require_error(await gateway.ask(method, f"/v1/workspaces{path}"), 401, "UNAUTHENTICATED", "3")


@pytest.mark.rows("WS-04")
async def test_an_owner_sees_its_own_workspaces_in_pages_of_25(owner: Owner, other: Owner) -> None:
    names = [f"space-{number:02}" for number in range(30, 0, -1)]
    for name in names:
        await owner.workspace(name)
    await other.workspace("theirs")
    first = await owner.page("")
    rest = await owner.page("", f"?cursor={first['nextCursor']}")
    assert [item["workspaceId"] for item in first["items"] + rest["items"]] == names
    assert (len(first["items"]), "nextCursor" in rest) == (25, False)
    assert [item["workspaceId"] for item in (await other.page(""))["items"]] == ["theirs"]
    assert [len(page) for page in await owner.pages("", 10)] == [10, 10, 10]


async def test_workspaces_of_one_moment_are_listed_by_id(
    owner: Owner, postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    await Rows(postgres, stores).execute(
        "INSERT INTO workspace.workspace SELECT id, 'alice', now(), now() FROM unnest('{b,B,a,a-1,a.1}'::text[]) AS id"
    )
    pages = await owner.pages("", 2)
    assert [item["workspaceId"] for page in pages for item in page] == ["B", "a", "a-1", "a.1", "b"]


async def test_a_parameter_that_breaks_the_contract_is_refused(owner: Owner) -> None:
    for query, (pointer, rule) in BROKEN_QUERIES.items():
        reply = await owner.ask("GET", query)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert reply.json["violations"] == [{"pointer": pointer, "rule": rule}]


async def test_a_cursor_belongs_to_its_list_its_path_and_its_limit(owner: Owner) -> None:
    for name in ("one", "two", "three"):
        await owner.workspace(name)
    cursor = (await owner.page("", "?limit=1"))["nextCursor"]
    for path in (f"?limit=2&cursor={cursor}", f"?cursor={cursor}", f"/one/installations?limit=1&cursor={cursor}"):
        reply = await owner.ask("GET", path)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert reply.json["violations"] == [{"pointer": "/cursor", "rule": "cursor"}]


async def test_a_made_up_cursor_with_a_right_seal_does_no_harm(owner: Owner) -> None:
    for position in MADE_UP_POSITIONS:
        encoded = json.dumps(position, separators=(",", ":")).encode()
        binding = json.dumps(["workspaces", [], [], 25], separators=(",", ":")).encode()
        seal = hashlib.sha256(encoded + binding).digest()[:16]
        cursor = base64.urlsafe_b64encode(seal + encoded).rstrip(b"=").decode()
        reply = await owner.ask("GET", f"?cursor={cursor}")
        if position == LIKELY_POSITION:
            assert reply.json == {"items": []}, "the seal itself is right"
        else:
            require_error(reply, 400, "VALIDATION_ERROR", "3")


@pytest.mark.rows("WS-21")
async def test_a_store_that_fails_is_neither_absence_nor_an_empty_list(
    owner: Owner, postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    await owner.workspace()
    rows, create = Rows(postgres, stores), ("caller", "POST", "")
    for table in ("workspace", "caller", "installation"):
        await rows.execute(f"ALTER TABLE workspace.{table} RENAME TO elsewhere")
        for method, path, body in (
            ("POST", "", {"workspaceId": f"other-{table}"}),
            ("GET", "", None),
            ("GET", "/space", None),
            ("GET", "/space/callers", None),
            ("PUT", "/space/callers/carol", None),
            ("DELETE", "/space/callers/carol", None),
            ("POST", "/space/installations", {"agentId": "a", "versionConstraint": "*", "acceptedPermissions": []}),
            ("GET", "/space/installations", None),
            ("GET", "/space/installations/inst_1", None),
            ("PATCH", "/space/installations/inst_1", {"status": "enabled"}),
            ("DELETE", "/space/installations/inst_1", None),
        ):
            reply = await owner.ask(method, path, body)
            unneeded = "installations" not in path if table == "installation" else (table, method, path) == create
            if unneeded:
                assert reply.status in {200, 201}
            else:
                require_error(reply, 503, "DEPENDENCY_ERROR", "3")
        await rows.execute(f"ALTER TABLE workspace.elsewhere RENAME TO {table}")
    assert (await owner.page("/space/installations"))["items"] == []
