"""Delegations as the Router believes them, and that nothing else is one."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from aop.agent import Rejected, ReplayMemory, Trust, Verifier
from aop.base.canonical import from_base64url, to_base64url
from aop.contracts.delegation import DelegationClaims
from aop.contracts.errors import Conflict, Forbidden, Refusal, Unauthenticated
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.signing import SigningKey
from aop.ledger.read.reader import ParentFacts
from aop.router.a2a.credential import Issuer
from aop.router.api.delegation import Delegations
from aop.router.invocation.parents import require_one_more_child
from aop.router.settings import read_router_settings
from tests.router.children import called, held_parent, pinned
from tests.router.conftest import LoneRouter
from tests.support.agent import credential_of, delegation_of
from tests.support.errors import require_error
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, router_environment
from tests.support.vectors import each, vectors

FILE = vectors("delegation")
BEARER = "Bearer "


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


def facts_of(
    claims: DelegationClaims, *, running: bool = True, invocations_of_root_task: int = 4999, **changes: Any
) -> ParentFacts:
    """A running parent that agrees with its delegation, but for the changes."""
    agreed = replace(claims, **changes)
    lineage = Lineage(agreed.invocation_id, agreed.root_task_id, agreed.trace_id)
    pin = Pin(agreed.workspace_id, agreed.agent_id, "1.0.0", agreed.release_id, "0" * 64)
    context = InvocationContext(lineage, pin, Caller(type=CallerType.USER, id="alice"), "work")
    return ParentFacts(context, running, invocations_of_root_task)


def delegations(now: float) -> Delegations:
    verifier = FILE["verifier"]
    issuer = Issuer(verifier["issuer"], verifier["keyId"], verifier["audience"], 60)
    key = SigningKey.of_seed(bytes.fromhex(FILE["testSeed"])).delegation_key()
    return Delegations(issuer, key, lambda: now)


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
        require_one_more_child(facts_of(claims), claims)
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
def test_the_parents_facts_decide_in_the_order_of_the_contract(
    changes: dict[str, Any] | None, refusal: type[Refusal]
) -> None:
    claims = delegations(FILE["now"]).verify(FILE["cases"][0]["authorization"][0].removeprefix(BEARER))
    require_one_more_child(facts_of(claims), claims)
    with pytest.raises(refusal):
        require_one_more_child(None if changes is None else facts_of(claims, **changes), claims)


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


@pytest.mark.rows("AUTH-13")
async def test_an_agent_takes_a_delegation_for_no_credential(router: LoneRouter) -> None:
    key = read_router_settings(router_environment()).credential.private_key.public
    trust = Trust("http://127.0.0.1:8081", router.agent.origin, "router-1", key)
    async with held_parent(router) as parent:
        delegation = parent.values("x-platform-delegation")[0]
        lines = [(name.encode(), value.encode()) for name, value in parent.headers]
        swapped = [(name, f"{BEARER}{delegation}".encode() if name == b"authorization" else v) for name, v in lines]
        with pytest.raises(Rejected) as rejected:
            Verifier(trust, ReplayMemory()).verify(swapped, parent.body)
        assert rejected.value.status == 401
        assert Verifier(trust, ReplayMemory()).verify(lines, parent.body).invocation_id
