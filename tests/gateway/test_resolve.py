"""What a Workspace may run: the resolve calls of the Router, and the authorization they share with Dispatch."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from aop.base.canonical import canonical
from aop.base.clock import utc_now
from aop.contracts.documents import document
from aop.contracts.publication import ReleaseState
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import InstallationStates
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, Database
from tests.gateway.resolving import AGENT_PATH, Scene, a_scene, decided
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner, Rows

VERSION_PATH = "/internal/v1/resolve-installed-version"
PATHS = pytest.mark.parametrize("path", [AGENT_PATH, VERSION_PATH])

BROKEN_QUESTIONS: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"traceId": "0" * 32}, ("/traceId", "not")),
    ({"traceId": None}, ("/traceId", "type")),
    ({"workspaceId": ""}, ("/workspaceId", "pattern")),
    ({"capability": "a b"}, ("/capability", "pattern")),
    ({"invocationId": "inv_1"}, ("/invocationId", "pattern")),
    ({"caller": "alice"}, ("", "additional_member")),
]
REFUSED: list[tuple[dict[str, str], int, str, str]] = [
    ({"workspaceId": "nowhere"}, 404, "NOT_FOUND", "workspace_unknown"),
    ({"agentId": "acme:other"}, 404, "AGENT_NOT_INSTALLED", "not_installed"),
    ({"capability": "unknown"}, 403, "CAPABILITY_NOT_ALLOWED", "skill_unknown"),
    ({"capability": "send"}, 403, "CAPABILITY_NOT_ALLOWED", "permission_not_accepted"),
]


@pytest_asyncio.fixture
async def scene(
    gateway: RunningUnit, alice: str, catalog: Catalog, postgres: PostgresForTests, stores: DatabaseUrls
) -> AsyncIterator[Scene]:
    async with a_scene(Owner(gateway, alice), catalog, Rows(postgres, stores)) as scene:
        yield scene


async def test_an_installed_agent_is_resolved_to_its_exact_card_and_installation(scene: Scene) -> None:
    reply = await scene.resolve()
    assert reply.status == 200, reply.body
    assert document("resolve-agent/1#response").violations(reply.json) == ()
    assert (reply.header("content-type"), reply.header("cache-control")) == ("application/json", "no-store")
    card = canonical(scene.card)
    assert reply.body.startswith(b'{"card":' + card + b',"installation":{')
    assert reply.json["installation"] == {
        "installationId": scene.installation_id,
        "workspaceId": "one",
        "agentId": "acme:one",
        "installedVersion": "1.2.0",
        "installedReleaseId": scene.release.release_id,
        "agentCardDigest": hashlib.sha256(card).hexdigest(),
        "acceptedPermissions": ["documents.read"],
        "status": "enabled",
    }


def authorization_digest(scene: Scene) -> str:
    """Of what permits the call, member by member."""
    release, version = scene.release, scene.card["version"]
    named = {
        "installation": {
            "installationId": scene.installation_id,
            "installedVersion": version,
            "installedReleaseId": release.release_id,
            "acceptedPermissions": ["documents.read"],
        },
        "release": {
            "releaseId": release.release_id,
            "cardDigest": release.card_digest,
            "endpointBindingId": release.endpoint_binding_id,
            "verificationMethod": release.verification_method,
            "verificationEvidenceDigest": release.verification_evidence_digest,
            "publishedAt": release.published_at,
        },
    }
    return hashlib.sha256(canonical(named)).hexdigest()


async def test_an_installed_version_is_resolved_to_its_pin(scene: Scene) -> None:
    reply = await scene.resolve(VERSION_PATH)
    assert reply.status == 200, reply.body
    assert document("resolve-installed-version/2#response").violations(reply.json) == ()
    assert reply.json == {
        "version": "1.2.0",
        "releaseId": scene.release.release_id,
        "agentCardDigest": hashlib.sha256(canonical(scene.card)).hexdigest(),
        "authorizationDigest": authorization_digest(scene),
    }


@pytest.mark.rows("AUTH-06")
@PATHS
async def test_only_a_known_service_token_may_resolve(scene: Scene, alice: str, path: str) -> None:
    gateway, body = scene.owner.gateway, scene.question(path)
    require_error(await gateway.post(path, body), 401, "UNAUTHENTICATED", "3")
    for token in (alice, CONTROL_PLANE_TO_ROUTER, "unknown"):
        require_error(await gateway.post(path, body, token=token), 403, "FORBIDDEN", "3")
    reply = await gateway.get("/v1/workspaces", token=ROUTER_TO_CONTROL_PLANE)
    require_error(reply, 401, "UNAUTHENTICATED", "3")


@PATHS
async def test_a_question_that_breaks_the_contract_is_refused_under_a_trace_of_its_own(scene: Scene, path: str) -> None:
    for members, violation in BROKEN_QUESTIONS:
        body = scene.question(path) | members
        reply = await scene.owner.gateway.post(path, body, token=ROUTER_TO_CONTROL_PLANE)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert violation in [(item["pointer"], item["rule"]) for item in reply.json["violations"]]
        assert reply.json["traceId"] != body["traceId"]


async def test_a_version_belongs_to_one_of_the_two_questions_only(scene: Scene) -> None:
    for path, body in ((AGENT_PATH, scene.question(VERSION_PATH)), (VERSION_PATH, scene.question(AGENT_PATH))):
        reply = await scene.owner.gateway.post(path, body, token=ROUTER_TO_CONTROL_PLANE)
        require_error(reply, 400, "VALIDATION_ERROR", "3")


@pytest.mark.rows("INV-08")
@PATHS
async def test_what_the_workspace_may_not_run_is_refused_without_ids(scene: Scene, path: str) -> None:
    for members, status, code, reason in REFUSED:
        reply = await scene.resolve(path, **members)
        require_error(reply, status, code, "3", reason)
        assert set(reply.json) == {"code", "message", "reason", "traceId"}


@PATHS
async def test_a_skill_without_permissions_may_run(scene: Scene, path: str) -> None:
    assert (await scene.resolve(path, capability="greet")).status == 200


async def test_another_version_than_the_installed_one_is_not_installed(scene: Scene) -> None:
    for version in ("1.2.1", "1.2.0+build", "1.2.0-rc.1"):
        require_error(await scene.resolve(version=version), 404, "AGENT_NOT_INSTALLED", "3")


@pytest.mark.rows("INV-09")
@PATHS
async def test_states_are_read_afresh_each_time(scene: Scene, path: str) -> None:
    assert (await scene.resolve(path)).status == 200
    await scene.owner.set_status(scene.installation_id, "disabled", scene.space)
    require_error(await scene.resolve(path), 409, "INSTALLATION_DISABLED", "3")
    await scene.owner.set_status(scene.installation_id, "enabled", scene.space)
    assert (await scene.resolve(path)).status == 200
    await scene.catalog.disable(scene.card)
    require_error(await scene.resolve(path), 409, "AGENT_DISABLED", "3")
    await scene.move(ReleaseState.SUSPENDED)
    require_error(await scene.resolve(path), 409, "AGENT_RELEASE_SUSPENDED", "3")
    await scene.move(ReleaseState.REVOKED)
    require_error(await scene.resolve(path), 409, "AGENT_RELEASE_REVOKED", "3")
    await scene.owner.uninstall(scene.installation_id, scene.space)
    require_error(await scene.resolve(path), 404, "AGENT_NOT_INSTALLED", "3")


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("registry.release", "card_digest = repeat('0', 64)"),
        ("registry.release", "release_id = 'rel_' || repeat('0', 32)"),
        ("registry.release", "version = '1.0.0'"),
        ("workspace.installation", "installed_card_digest = repeat('0', 64)"),
        ("workspace.installation", "installed_release_id = 'rel_' || repeat('0', 32)"),
    ],
)
async def test_pinned_facts_that_are_missing_or_disagree_are_a_failed_dependency(
    scene: Scene, table: str, change: str
) -> None:
    await scene.rows.execute(
        "ALTER TABLE registry.release DROP CONSTRAINT release_of_card",
        "ALTER TABLE registry.change DROP CONSTRAINT change_of_release",
    )
    await scene.rows.tamper(table, change)
    for path in (AGENT_PATH, VERSION_PATH):
        require_error(await scene.resolve(path), 503, "DEPENDENCY_ERROR", "3")


async def test_a_store_that_fails_is_a_failed_dependency(scene: Scene) -> None:
    for table in ("workspace.workspace", "workspace.installation", "registry.card", "registry.release"):
        await scene.rows.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        for path in (AGENT_PATH, VERSION_PATH):
            require_error(await scene.resolve(path), 503, "DEPENDENCY_ERROR", "3")
        schema, _, name = table.partition(".")
        await scene.rows.execute(f"ALTER TABLE {schema}.elsewhere RENAME TO {name}")
    assert (await scene.resolve()).status == 200


class CountingDatabase(Database):
    """Tells how often a connection was asked for, which is once per round trip here."""

    used = 0

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        self.used += 1
        async with super().connection() as connection:
            yield connection


async def test_an_authorization_is_one_read_and_the_card_is_read_once_per_digest(
    scene: Scene, stores: DatabaseUrls
) -> None:
    async with opened_database(stores.control_plane, kind=CountingDatabase) as database:
        assert isinstance(database, CountingDatabase)
        authorization = Authorization(InstallationStates(database, utc_now), Pins(database))
        access = AccessRequest(scene.space, scene.card["agentId"], "summarize")
        reads = []
        for _ in range(3):
            before = database.used
            authorized = await decided(authorization, "alice", access)
            reads.append(database.used - before)
        assert reads == [2, 1, 1]
        assert (authorized.pin.version, authorized.pin.release) == ("1.2.0", scene.release.release_id)
        assert authorized.installation_id == scene.installation_id
        assert authorized.accepted_permissions == ("documents.read",)
        assert await authorization.card(authorized.pin) == canonical(scene.card)
