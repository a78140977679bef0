"""Delegations as the Router believes them, and what a nested call asks of the Control Plane and of its parent."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aop.base.base64url import from_base64url, to_base64url
from aop.contracts.delegation import DelegationClaims
from aop.contracts.errors import Conflict, Forbidden, Refusal, Unauthenticated
from aop.contracts.signing import VerifyKey
from aop.ledger.lineage import Lineage, ParentFacts
from aop.router.credential import Issuer
from aop.router.delegation import Delegations
from aop.router.parents import require_running_parent
from tests.router.conftest import Lone, LoneRouter
from tests.support.agent import credential_of, delegation_of, echo
from tests.support.control_plane import ScriptedControlPlane, answering
from tests.support.errors import require_error
from tests.support.loop import asking
from tests.support.nested import NESTED, nested_body
from tests.support.peers import Behaviour, Received, after, hold
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.units import Reply
from tests.support.vectors import each, vectors

FILE = vectors("delegation")
BEARER = "Bearer "
INSTALLED = "/internal/v1/resolve-installed-version"


class Presented:
    """A request as far as authentication looks at it."""

    def __init__(self, authorization: Sequence[str]) -> None:
        self._values = [value.encode() for value in authorization]
        self.grant: object = None
        self.caller: str | None = None
        self.trace_id = "f" * 32

    def single_header(self, name: bytes) -> bytes | None:
        assert name == b"authorization"
        return self._values[0] if len(self._values) == 1 else None


class RunningParent(Lineage):
    """Every parent runs and agrees with its delegation."""

    def __init__(self, claims: DelegationClaims) -> None:
        self._claims = claims

    async def parent(self, invocation: str) -> ParentFacts | None:
        claims = self._claims
        assert f"inv_{invocation}" == claims.invocation_id
        facts = (claims.workspace_id, claims.agent_id, claims.release_id, claims.root_task_id, claims.trace_id)
        return ParentFacts(*facts, running=True, invocations_of_root_task=1)


def delegations(now: float) -> Delegations:
    verifier = FILE["verifier"]
    issuer = Issuer(verifier["issuer"], verifier["keyId"], verifier["audience"], 60)
    return Delegations(issuer, VerifyKey.parse(verifier["publicKey"]), lambda: now)


async def judged(case: dict[str, Any]) -> tuple[int | None, int]:
    """The step that refuses and its status, as the vectors tell it."""
    request: Any = Presented(case["authorization"])
    try:
        await delegations(case.get("now", FILE["now"])).authenticate(request)
    except Unauthenticated:
        assert (request.grant, request.caller, request.trace_id) == (None, None, "f" * 32)
        return 1, 401
    claims = request.grant
    assert (request.caller, request.trace_id) == (claims.agent_id, claims.trace_id)
    try:
        await require_running_parent(RunningParent(claims), claims)
    except Forbidden:
        return 6, 403
    return None, 200


@pytest.mark.rows("NEST-05", "NEST-07")
@each("delegation")
async def test_a_delegation_is_judged_as_its_vector_says(case: dict[str, Any]) -> None:
    assert await judged(case) == (case["step"], case["status"])


@pytest.mark.rows("NEST-05")
@pytest.mark.parametrize("segment", [0, 1, 2])
def test_no_bit_of_a_delegation_can_be_changed(segment: int) -> None:
    token = FILE["cases"][0]["authorization"][0].removeprefix(BEARER)
    parts = token.split(".")
    raw = from_base64url(parts[segment])
    assert delegations(FILE["now"]).verify(token).depth == 0
    for place in range(len(raw)):
        bent = bytearray(raw)
        bent[place] ^= 1 << (place % 8)
        changed = [*parts[:segment], to_base64url(bytes(bent)), *parts[segment + 1 :]]
        with pytest.raises(Unauthenticated):
            delegations(FILE["now"]).verify(".".join(changed))


class Stranger(Lineage):
    """Gives these facts of whatever parent is asked for."""

    def __init__(self, facts: ParentFacts | None) -> None:
        self._facts = facts

    async def parent(self, invocation: str) -> ParentFacts | None:
        return self._facts


@pytest.mark.rows("NEST-05", "NEST-06")
@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"workspace_id": "other"}, Unauthenticated),
        ({"agent_id": "other"}, Unauthenticated),
        ({"release_id": "rel_" + "0" * 32}, Unauthenticated),
        ({"root_task_id": "task_" + "0" * 32}, Unauthenticated),
        ({"trace_id": "0" * 32}, Unauthenticated),
        ({"trace_id": "0" * 32, "running": False}, Unauthenticated),
        ({"running": False}, Conflict),
        ({"running": False, "invocations_of_root_task": 5000}, Conflict),
        ({"invocations_of_root_task": 5000}, Forbidden),
        (None, Conflict),
    ],
)
async def test_the_parents_facts_decide_in_the_order_of_the_contract(
    changes: dict[str, Any] | None, refusal: type[Refusal]
) -> None:
    token = FILE["cases"][0]["authorization"][0].removeprefix(BEARER)
    claims = delegations(FILE["now"]).verify(token)
    facts = {
        "workspace_id": claims.workspace_id,
        "agent_id": claims.agent_id,
        "release_id": claims.release_id,
        "root_task_id": claims.root_task_id,
        "trace_id": claims.trace_id,
        "running": True,
        "invocations_of_root_task": 4999,
    }
    await require_running_parent(Stranger(ParentFacts(**facts)), claims)
    with pytest.raises(refusal):
        await require_running_parent(Stranger(None if changes is None else ParentFacts(**{**facts, **changes})), claims)


@asynccontextmanager
async def held_parent(router: LoneRouter, *script: Behaviour) -> AsyncIterator[Received]:
    """A running root Invocation; its caller leaves at the end of the scope."""
    router.agent.script(*(script or (hold,)))
    number = len(router.agent.received) + 1
    headers = ((b"authorization", f"Bearer {CONTROL_PLANE_TO_ROUTER}".encode()),)
    body = json.dumps(router.plane.dispatch()).encode()
    async with asking(router.unit, "/internal/v1/invocations", body, headers):
        yield await router.agent.arrival("message/send", number)


async def called(router: LoneRouter, parent: Received, token: str | None = None, **members: Any) -> Reply:
    body = nested_body(router.plane.card["agentId"], **members)
    return await router.unit.post(NESTED, body, token=token or parent.values("x-platform-delegation")[0])


def pinned(plane: ScriptedControlPlane, **members: str) -> Behaviour:
    """The pin of a nested call, and the Card behind it."""

    async def behave(request: Received) -> None:
        pin = {"version": "1.0.0", "releaseId": plane.entry["releaseId"], "agentCardDigest": plane.digest, **members}
        body = json.dumps(pin).encode() if request.target == INSTALLED else plane.resolved()
        await answering(body)(request)

    return behave


@pytest.mark.rows("NEST-05", "AUTH-13", "OPS-13")
async def test_neither_a_credential_nor_a_service_token_makes_a_child_call(router: LoneRouter) -> None:
    router.plane.on_resolve = pinned(router.plane)
    async with held_parent(router) as parent:
        credential = parent.values("authorization")[0].removeprefix(BEARER)
        assert credential_of(parent).claims["invocationId"] == delegation_of(parent).claims["invocationId"]
        asked = len(router.plane.resolves)
        for token in (credential, CONTROL_PLANE_TO_ROUTER):
            reply = await called(router, parent, token)
            require_error(reply, 401, "UNAUTHENTICATED", "4")
            assert reply.json["traceId"] != delegation_of(parent).claims["traceId"]
        assert (await router.recorded(), len(router.plane.resolves)) == (1, asked)
        delegation = parent.values("x-platform-delegation")[0]
        for path in ("/internal/v1/topology/status", "/internal/v1/workspaces/space/invocations"):
            require_error(await router.unit.get(path, token=delegation), 403, "FORBIDDEN", "4")
        assert (await called(router, parent)).status == 200


@pytest.mark.rows("TOP-04", "OPS-13")
async def test_a_child_asks_for_its_pin_every_time_and_for_its_card_once(router: LoneRouter) -> None:
    router.plane.on_resolve = pinned(router.plane)
    async with held_parent(router) as parent:
        before = len(router.plane.resolves)
        replies = [await called(router, parent) for _ in range(3)]
        asked = router.plane.resolves[before:]
        assert [request.target for request in asked] == [INSTALLED] * 3
        for reply, request in zip(replies, asked, strict=True):
            assert request.json == {
                "invocationId": reply.json["invocationId"],
                "rootTaskId": reply.json["rootTaskId"],
                "traceId": reply.json["traceId"],
                "workspaceId": "space",
                "agentId": router.plane.card["agentId"],
                "capability": "work",
            }


@pytest.mark.rows("NEST-08")
@pytest.mark.parametrize(
    "members",
    [
        {"releaseId": "rel_" + "0" * 32},
        {"agentCardDigest": "0" * 64},
        {"version": "2.0.0"},
        {"releaseId": "one"},
        {"agentCardDigest": "one"},
        {"more": "1"},
        {},
    ],
)
async def test_a_pin_that_differs_from_the_resolved_card_is_a_failed_dependency(
    router: LoneRouter, members: dict[str, str]
) -> None:
    async with held_parent(router) as parent:
        router.plane.on_resolve = pinned(router.plane, **members) if members else answering(b'{"version":"1.0.0"}')
        require_error(await called(router, parent), 503, "DEPENDENCY_ERROR", "4")
        assert await router.recorded() == 1


@pytest.mark.rows("INV-28", "TOP-04")
@pytest.mark.parametrize(
    "members", [{"targetAgentId": "acme:other"}, {"agentCardVersion": "2.0.0"}, {"capability": "other"}]
)
async def test_a_cached_card_answers_for_its_own_agent_version_and_skills_only(
    router: LoneRouter, members: dict[str, str]
) -> None:
    assert (await router.dispatch()).status == 200
    require_error(await router.dispatch(**members), 503, "DEPENDENCY_ERROR", "4")
    assert (await router.recorded(), len(router.plane.resolves)) == (1, 2)


@pytest.mark.rows("NEST-06")
async def test_a_parent_that_ends_while_its_childs_card_is_asked_for_gets_no_child(router: LoneRouter) -> None:
    resolving, answer = asyncio.Event(), asyncio.Event()

    async def resolve(request: Received) -> None:
        if request.target == INSTALLED:
            resolving.set()
            await answer.wait()
        await pinned(router.plane)(request)

    finish = asyncio.Event()
    async with held_parent(router, after(finish, echo)) as parent:
        router.plane.on_resolve = resolve
        child = asyncio.create_task(called(router, parent))
        await resolving.wait()
        finish.set()
        invocation_id = delegation_of(parent).claims["invocationId"]
        async with asyncio.timeout(2):
            while (await router.types(invocation_id))[-1] != "succeeded":
                await asyncio.sleep(0.01)
        answer.set()
        require_error(await child, 409, "CONFLICT", "4")
        assert await router.recorded() == 1


@pytest.mark.rows("TOP-03")
@pytest.mark.parametrize("nested", [False, True])
async def test_a_suspension_that_arrives_while_the_card_is_asked_for_is_obeyed(lone: Lone, nested: bool) -> None:
    async with lone() as router:
        async with held_parent(router) as parent:
            await router.plane.change("published")  # a change drops the Card from the cache
            resolving, answer = asyncio.Event(), asyncio.Event()

            async def resolve(request: Received) -> None:
                if request.target != INSTALLED:
                    resolving.set()
                    await answer.wait()
                await pinned(router.plane)(request)

            router.plane.on_resolve = resolve
            router.plane.card["description"] = "Another one."
            await router.plane.change("published")
            await asyncio.sleep(0.05)
            asked = called(router, parent) if nested else router.dispatch()
            call = asyncio.create_task(asked)
            async with asyncio.timeout(2):
                await resolving.wait()
            await router.plane.change("suspended")
            status = "/internal/v1/topology/status"
            async with asyncio.timeout(2):
                while "suspended" not in str((await router.unit.get(status, token=CONTROL_PLANE_TO_ROUTER)).json):
                    await asyncio.sleep(0.01)
            answer.set()
            require_error(await call, 409, "AGENT_RELEASE_SUSPENDED", "4")
            assert await router.recorded() == 1
