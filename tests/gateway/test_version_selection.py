"""Which version an install chooses: the highest in the range, judged alone, never a step down."""

import json
import random

import pytest

from aop.base.semver import Version
from aop.base.semver_range import Range
from aop.contracts.errors import NotFound
from aop.contracts.publication import ReleaseState
from aop.control_plane.registry.index_keys import precedence_text
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.selection import highest_version
from tests.support.cards import a_card
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.highest import highest
from tests.support.units import RunningUnit
from tests.support.vectors import VECTORS
from tests.support.workspaces import AGENT, Owner, Rows, a_release

RANGES = json.loads((VECTORS / "semver-ranges.json").read_bytes())["cases"]
S = ReleaseState


async def chosen(owner: Owner, constraint: str) -> str:
    """The version an install pins; the Agent is uninstalled again."""
    installed = await owner.install(constraint=constraint)
    await owner.uninstall(installed["installationId"])
    return str(installed["installedVersion"])


@pytest.mark.rows("WS-07")
async def test_the_highest_version_in_the_range_is_pinned(owner: Owner, catalog: Catalog) -> None:
    for version in ("1.9.0", "1.10.0", "2.0.0", "0.9.9", "1.2.0"):
        await a_release(catalog, version)
    assert await chosen(owner, "*") == "2.0.0"
    assert await chosen(owner, "^1.0.0") == "1.10.0"
    assert await chosen(owner, "<1.10.0") == "1.9.0"
    assert await chosen(owner, "1.2.x || 0.x") == "1.2.0"
    assert await chosen(owner, "!=2.0.0, !=1.10") == "1.9.0"


@pytest.mark.rows("WS-07")
async def test_a_tie_in_precedence_goes_to_the_bytewise_greater_version(owner: Owner, catalog: Catalog) -> None:
    for version in ("1.0.0+b", "1.0.0+a.9", "1.0.0", "1.0.0+B"):
        await a_release(catalog, version)
    assert await chosen(owner, "^1.0.0") == "1.0.0+b"
    assert await chosen(owner, "1.0.0") == "1.0.0"
    assert await chosen(owner, "=1.0.0+a.9") == "1.0.0+a.9"


@pytest.mark.rows("WS-08")
async def test_a_prerelease_takes_part_only_where_the_matching_branch_names_one(owner: Owner, catalog: Catalog) -> None:
    for version in ("1.0.0", "1.1.0-rc.1", "2.0.0-beta.2", "2.0.0-beta.11"):
        await a_release(catalog, version)
    assert await chosen(owner, ">=1.0.0") == "1.0.0"
    assert await chosen(owner, "*") == "1.0.0"
    assert await chosen(owner, ">=2.0.0-beta.1") == "2.0.0-beta.11"
    assert await chosen(owner, ">=1.0.0 || 1.1.0-rc.1") == "1.1.0-rc.1"
    assert await chosen(owner, "<2.0.0 || 3.0.0-alpha") == "1.0.0"


@pytest.mark.rows("WS-09")
@pytest.mark.parametrize("state", [None, S.PENDING_VERIFICATION, S.VERIFIED])
async def test_a_higher_version_without_a_published_release_is_refused_and_nothing_lower_taken(
    owner: Owner, catalog: Catalog, rows: Rows, state: ReleaseState | None
) -> None:
    await a_release(catalog, "1.0.0")
    higher = a_card(version="2.0.0")
    if state is None:
        await catalog.publish(higher)
    else:
        await catalog.register(higher)
        await catalog.release(higher, state)
    require_error(await owner.try_install(constraint=">=1.0.0"), 409, "AGENT_RELEASE_UNPUBLISHED", "3")
    assert await rows.installations() == []
    assert await chosen(owner, "<2.0.0") == "1.0.0"


@pytest.mark.rows("WS-10", "WS-11")
@pytest.mark.parametrize(
    ("state", "disabled", "code"),
    [
        (S.SUSPENDED, False, "AGENT_RELEASE_SUSPENDED"),
        (S.REVOKED, False, "AGENT_RELEASE_REVOKED"),
        (S.PENDING_VERIFICATION, False, "AGENT_RELEASE_UNPUBLISHED"),
        (S.PENDING_VERIFICATION, True, "AGENT_RELEASE_UNPUBLISHED"),
        (S.VERIFIED, True, "AGENT_RELEASE_UNPUBLISHED"),
        (S.PUBLISHED, True, "AGENT_DISABLED"),
        (S.SUSPENDED, True, "AGENT_RELEASE_SUSPENDED"),
        (S.REVOKED, True, "AGENT_RELEASE_REVOKED"),
    ],
)
async def test_the_state_of_the_winner_is_told_exactly(
    owner: Owner, catalog: Catalog, rows: Rows, state: ReleaseState, disabled: bool, code: str
) -> None:
    await a_release(catalog, "1.0.0")
    higher, _ = await a_release(catalog, "1.0.1", state)
    if disabled:
        await catalog.disable(higher)
    reply = await owner.try_install(accepted=["not.declared"])
    require_error(reply, 409, code, "3")
    assert set(reply.json) == {"code", "message", "traceId"}
    assert await rows.installations() == []


@pytest.mark.rows("WS-13")
async def test_an_unknown_agent_and_a_range_nothing_satisfies_are_not_found(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog, "1.0.0")
    require_error(await owner.try_install("acme:nobody"), 404, "NOT_FOUND", "3")
    require_error(await owner.try_install(constraint=">1.0.0"), 404, "NOT_FOUND", "3")
    require_error(await owner.try_install(AGENT.upper()), 404, "NOT_FOUND", "3")


async def test_drafts_and_disabled_cards_without_a_release_are_no_candidates(owner: Owner, catalog: Catalog) -> None:
    draft, gone = a_card(version="3.0.0"), a_card(version="2.0.0")
    await a_release(catalog, "1.0.0")
    await catalog.register(draft)
    await catalog.publish(gone)
    await catalog.disable(gone)
    assert await chosen(owner, "*") == "1.0.0"
    require_error(await owner.try_install(constraint=">=2.0.0"), 404, "NOT_FOUND", "3")


@pytest.mark.rows("WS-13")
async def test_an_unreadable_range_is_refused_before_anything_is_looked_up(owner: Owner) -> None:
    for case in RANGES:
        if case["verdict"] == "constraint_syntax":
            reply = await owner.try_install(constraint=case["range"], space="nowhere")
            require_error(reply, 400, "VALIDATION_ERROR", "3")
            rule = "constraint_syntax" if case["range"] else "minLength"
            assert reply.json["violations"] == [{"pointer": "/versionConstraint", "rule": rule}]


@pytest.mark.rows("WS-07", "WS-08")
async def test_the_vectors_of_the_range_language_hold_through_the_install_call(owner: Owner, catalog: Catalog) -> None:
    readable = [case for case in RANGES if case["verdict"] != "constraint_syntax"]
    for number, case in enumerate(random.Random(4).sample(readable, 60)):
        agent_id = f"acme:agent-{number}"
        card = a_card(agent_id=agent_id, version=case["version"])
        await catalog.register(card)
        await catalog.release(card)
        reply = await owner.try_install(agent_id, case["range"])
        assert reply.status == (201 if case["verdict"] == "matches" else 404), case


async def test_the_choice_among_thousands_of_versions_is_the_same_as_among_all_at_once(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    await a_release(catalog, "1.0.0")
    chance = random.Random(11)
    tails = ("", "", "", "-rc.1", "-rc.10", "-alpha", "-0", "+b1", "-rc.1+b2")
    numbers = ((chance.randrange(12), chance.randrange(12), chance.randrange(30)) for _ in range(3000))
    made = {f"{major}.{minor}.{patch}{chance.choice(tails)}" for major, minor, patch in numbers}
    texts = sorted(made.union(case["version"] for case in RANGES) - {"1.0.0"})
    await publish_like(rows, "1.0.0", texts)
    versions, pins = [Version.parse(text) for text in [*texts, "1.0.0"]], Pins(catalog.database)
    readable = {case["range"] for case in RANGES if case["verdict"] != "constraint_syntax"}
    for constraint in sorted({*readable, ">90", "<0.0.0-0", "<*", f"<{'9' * 150}.0.0 !=11"}):
        wanted = Range.parse(constraint)
        best = highest(versions, wanted)
        if best is None:
            with pytest.raises(NotFound):
                await highest_version(pins, AGENT, wanted)
        else:
            assert await highest_version(pins, AGENT, wanted) == best.text, constraint
    assert await chosen(owner, "^3.4.0") == getattr(highest(versions, Range.parse("^3.4.0")), "text", None)


async def publish_like(rows: Rows, version: str, others: list[str]) -> None:
    """Copies a version's rows under other versions, which is quicker than publishing thousands."""
    values = ", ".join(f"('{text}', '{precedence_text(Version.parse(text))}')" for text in others)
    await rows.execute(
        "INSERT INTO registry.card SELECT (jsonb_populate_record(card, jsonb_build_object('version', other.version,"
        f" 'precedence', other.precedence))).* FROM registry.card, (VALUES {values}) AS other (version, precedence)"
        f" WHERE card.version = '{version}'",
        "INSERT INTO registry.release SELECT (jsonb_populate_record(release, jsonb_build_object("
        " 'version', card.version, 'release_id', 'rel_' || md5(card.version)))).*"
        " FROM registry.release JOIN registry.card USING (agent_id)"
        f" WHERE release.version = '{version}' AND card.version <> '{version}'",
    )


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("registry.release", "card_digest = repeat('0', 64)"),
        ("registry.card", "status = 'draft', published_at = NULL, publication = NULL"),
    ],
)
async def test_facts_that_disagree_are_a_failed_dependency(
    owner: Owner, catalog: Catalog, rows: Rows, table: str, change: str
) -> None:
    await a_release(catalog)
    await rows.tamper(table, change)
    require_error(await owner.try_install(), 503, "DEPENDENCY_ERROR", "3")
    assert await rows.installations() == []


async def test_a_card_that_is_not_what_its_digest_names_is_a_failed_dependency(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    await a_release(catalog)
    await rows.execute("ALTER TABLE registry.card DROP CONSTRAINT card_digest_of_document")
    await rows.tamper("registry.card", "document = document || ' '::bytea")
    require_error(await owner.try_install(), 503, "DEPENDENCY_ERROR", "3")


@pytest.mark.rows("SHARE-06")
async def test_what_the_public_share_shows_is_what_an_install_pins(
    gateway: RunningUnit, owner: Owner, catalog: Catalog
) -> None:
    card = a_card(version="1.4.0")
    public_agent_id = (await catalog.register(card)).public_agent_id
    await catalog.release(card)
    share = (await gateway.get(f"/v1/public/agents/{public_agent_id}")).json["releases"][0]
    installed = await owner.install(share["agentId"], share["version"])
    assert (installed["installedReleaseId"], installed["installedVersion"]) == (share["releaseId"], share["version"])
    body = {"agentId": share["agentId"], "versionConstraint": share["version"], "acceptedPermissions": []}
    reply = await gateway.post("/v1/workspaces/space/installations", body)
    require_error(reply, 401, "UNAUTHENTICATED", "3")
