"""The verifier refuses at the check each vector names, and burns no jti before the last one."""

from contextlib import suppress
from typing import Any

import pytest

from aop.agent import Rejected, ReplayMemory, Trust, Verifier
from aop.agent.testing import SignedRouter
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, code_entries
from aop.contracts.signing import VerifyKey
from aop.net.headers import HeaderMap
from tests.agent.agents import REJECTIONS, clock_at
from tests.support.vectors import cases, each, vectors

FILE = vectors("credential")


def a_verifier(case: dict[str, Any], replays: ReplayMemory | None = None) -> Verifier:
    given, now = FILE["verifier"], case.get("now", FILE["now"])
    replays = ReplayMemory() if replays is None else replays
    for jti in case.get("seen", []):
        assert replays.admits(jti, now + 60, now)
    trust = Trust(given["issuer"], given["audience"], given["keyId"], VerifyKey.parse(given["publicKey"]))
    return Verifier(trust, replays, clock_at(now))


def headers_of(case: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    context = FILE["contexts"][case.get("context", "root")].items()
    lines = [("authorization", value) for value in case["authorization"]]
    lines += [line for line in context if line[0] not in case.get("without", [])]
    return [(name.encode(), value.encode()) for name, value in [*lines, *case.get("added", [])]]


def outcome(verifier: Verifier, case: dict[str, Any]) -> tuple[int | None, int]:
    try:
        verifier.verify(headers_of(case), case.get("body", FILE["body"]).encode())
    except Rejected as rejected:
        return rejected.step, rejected.status
    return None, 200


@each("credential")
def test_a_credential_vector_ends_at_its_check_with_its_status(case: dict[str, Any]) -> None:
    assert outcome(a_verifier(case), case) == (case["step"], case["status"])


@each("credential")
def test_a_verifier_that_has_seen_a_right_signature_judges_no_vector_otherwise(case: dict[str, Any]) -> None:
    verifier = a_verifier(case)
    right = next(one for one in cases("credential") if one["status"] == 200)
    with suppress(Rejected):  # for its time, behind the signature, where the vector has another clock
        verifier.check_headers(HeaderMap(headers_of(right)))
    assert outcome(verifier, case) == (case["step"], case["status"])


@pytest.mark.parametrize("member", ["jti", "capability", "cardDigest"])
@pytest.mark.parametrize("parent", [None, "inv_1"])
def test_a_line_end_makes_no_two_texts_of_one(member: str, parent: str | None) -> None:
    router = SignedRouter.new("http://127.0.0.1:8099")
    draft = router.draft({}, parent=parent)
    draft.claims[member] = f"a\n{draft.claims[member]}"
    with pytest.raises(Rejected) as rejected:
        Verifier(trusting(router), ReplayMemory()).verify(draft.signed().headers, draft.body)
    assert (rejected.value.status, rejected.value.step) == (401, 6)


def trusting(router: SignedRouter) -> Trust:
    return Trust(router.issuer, router.audience, router.key_id, VerifyKey.parse(router.key.public_text))


@pytest.mark.rows("AUTH-11")
def test_a_refused_request_burns_no_jti_and_an_accepted_one_does() -> None:
    named = {case["name"]: case for case in cases("credential")}
    for sequence in FILE["sequences"]:
        verifier = a_verifier({})
        statuses = [outcome(verifier, named[name])[1] for name in sequence["presentations"]]
        assert statuses == sequence["statuses"]


@each("delegation")
@pytest.mark.rows("AUTH-13")
def test_no_delegation_vector_is_a_credential(case: dict[str, Any]) -> None:
    if len(case["authorization"]) == 1 and case["name"] != "a credential instead":
        assert outcome(a_verifier({}), {"authorization": case["authorization"]})[1] == 401


@pytest.mark.parametrize("name", [b"x-platform-capability", b"x_platform_capability", b"x_platform_delegation"])
def test_a_context_header_twice_is_refused_also_in_underscore_spelling(name: bytes) -> None:
    line = (name, b"capability")
    router = SignedRouter.new("http://127.0.0.1:8099")
    request = router.request({})
    with pytest.raises(Rejected) as rejected:
        Verifier(trusting(router), ReplayMemory()).verify([*request.headers, line], request.body)
    assert (rejected.value.status, rejected.value.step) == (403, 9)


def test_the_fixed_rejections_are_those_of_the_contract() -> None:
    for status, code in ((401, ErrorCode.UNAUTHENTICATED), (403, ErrorCode.FORBIDDEN)):
        entry = code_entries()[code]
        assert entry.status == status
        assert REJECTIONS[status] == b'{"code":"%b","message":"%b"}' % (code.encode(), entry.message.encode())
        assert document("agent-rejection/1").is_valid({"code": code, "message": entry.message})
