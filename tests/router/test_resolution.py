"""The Card of a root Invocation: one question to the Control Plane, and an answer that must agree in every member."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from aop.base.canonical import canonical
from aop.contracts.errors import ErrorCode, code_entries
from tests.router.conftest import Lone, LoneRouter
from tests.support.callers import asking
from tests.support.cards import a_card
from tests.support.control_plane import ScriptedControlPlane, answering
from tests.support.errors import require_error
from tests.support.peers import JSON, Behaviour, Received, after, hold, reset, sending
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE
from tests.support.waiting import a_while, generous_ms, promptly

Broken = Callable[[ScriptedControlPlane], Behaviour]


def installation(**members: Any) -> Broken:
    return lambda plane: answering(plane.resolved(**members))


def other_card(**members: object) -> Broken:
    """A Card that is not the pinned one; its digest is right for itself."""

    def broken(plane: ScriptedControlPlane) -> Behaviour:
        document = canonical({**plane.card, **members})
        return answering(plane.resolved(document, agentCardDigest=hashlib.sha256(document).hexdigest()))

    return broken


def refusing(code: str, status: int, **members: object) -> Broken:
    async def behave(request: Received) -> None:
        body = {"code": code, "message": "x", "traceId": request.json["traceId"], **members}
        await answering(json.dumps(body).encode(), status)(request)

    return lambda plane: behave


def without_trace(plane: ScriptedControlPlane) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(plane.resolved())

    return behave


BROKEN: dict[str, Broken] = {
    "another Release": installation(installedReleaseId="rel_" + "0" * 31 + "1"),
    "another digest": installation(agentCardDigest="0" * 64),
    "another Workspace": installation(workspaceId="other"),
    "another Agent": installation(agentId="other"),
    "another version": installation(installedVersion="1.0.1"),
    "disabled": installation(status="disabled"),
    "unknown member of the Installation": installation(extra=1),
    "digest of another Card": other_card(name="Other"),
    "Card with other bytes": lambda plane: answering(plane.resolved(plane.document.replace(b"{", b"{ ", 1))),
    "Card that is no Card": lambda plane: answering(plane.resolved(b"{}")),
    "no Card": lambda plane: answering(b'{"installation":%b}' % json.dumps(plane.installation()).encode()),
    "unknown member": lambda plane: answering(plane.resolved()[:-1] + b',"extra":1}'),
    "repeated member": lambda plane: answering(plane.resolved()[:-1] + b',"card":{}}'),
    "trailing data": lambda plane: answering(plane.resolved() + b"1"),
    "not JSON": lambda plane: answering(b"<html>"),
    "empty": lambda plane: answering(b""),
    "wrong media type": lambda plane: answering(plane.resolved(), 200, b"content-type: text/html"),
    "no media type": lambda plane: answering(plane.resolved(), 200, b"x: y"),
    "oversize": lambda plane: answering(plane.resolved() + b" " * 2_097_152),
    "no trace": without_trace,
    "two traces": lambda plane: answering(plane.resolved(), 200, JSON, b"x-platform-trace-id: " + b"f" * 32),
    "status 201": lambda plane: answering(plane.resolved(), 201),
    "redirect": lambda plane: answering(b"{}", 302, b"location: /internal/v1/elsewhere"),
    "unlisted code": refusing("OVERLOADED", 503),
    "other message": refusing("AGENT_NOT_INSTALLED", 404),
    "token refused": refusing("UNAUTHENTICATED", 401),
    "reset": lambda plane: reset,
    "cut": lambda plane: sending(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"),
    "silent": lambda plane: hold,
}


UNREACHED = {"oversize", "reset", "cut", "silent"}
"""No whole answer came; all others are answers of something that is not the Control Plane, or not in order."""


@pytest.mark.rows("INV-27", "INV-28", "REAS-01")
async def test_a_resolve_answer_that_does_not_agree_is_a_dependency_error_and_asked_once(lone: Lone) -> None:
    async with lone(PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS=str(generous_ms(0.1))) as router:
        for name, broken in BROKEN.items():
            router.plane.on_resolve, count = broken(router.plane), len(router.plane.resolves)
            body = router.plane.dispatch()
            reply = await router.dispatch(body)
            assert (name, reply.status, reply.code) == (name, 503, "DEPENDENCY_ERROR")
            reason = "control_plane_unreachable" if name in UNREACHED else None
            require_error(reply, 503, "DEPENDENCY_ERROR", "4", reason)
            assert set(reply.json) - {"reason"} == {"code", "message", "traceId"}
            assert reply.json["traceId"] == body["traceId"]
            assert (name, len(router.plane.resolves)) == (name, count + 1)
        assert (await router.recorded(), router.agent.received) == (0, [])
        router.plane.on_resolve = None
        assert (await router.dispatch()).status == 200


@pytest.mark.rows("INV-28")
async def test_permissions_and_skill_must_be_covered_by_the_answer(lone: Lone) -> None:
    card = {name: a_card()[name] for name in ("skills", "permissions")}
    async with lone(card=card) as router:
        router.plane.on_resolve = answering(router.plane.resolved(acceptedPermissions=[]))
        require_error(await router.dispatch(), 503, "DEPENDENCY_ERROR", "4")
        router.plane.on_resolve = None
        require_error(await router.dispatch(capability="other"), 503, "DEPENDENCY_ERROR", "4")
        assert await router.recorded() == 0


@pytest.mark.rows("INV-27")
async def test_an_unreachable_control_plane_refuses_what_is_not_cached_only(lone: Lone) -> None:
    async with lone() as router:
        assert (await router.dispatch()).status == 200
        router.plane.on_resolve = reset
        assert (await router.dispatch()).status == 200
        assert len(router.plane.resolves) == 1


async def test_the_question_names_the_call(router: LoneRouter) -> None:
    body = router.plane.dispatch()
    await router.dispatch(body)
    (asked,) = router.plane.resolves
    assert (asked.verb, asked.target) == ("POST", "/internal/v1/resolve-agent")
    assert asked.values("authorization") == [f"Bearer {ROUTER_TO_CONTROL_PLANE}"]
    same = ("invocationId", "rootTaskId", "traceId", "workspaceId", "capability")
    expected = {name: body[name] for name in same}
    assert asked.json == {**expected, "agentId": body["targetAgentId"], "version": body["agentCardVersion"]}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("AGENT_NOT_INSTALLED", 404),
        ("INSTALLATION_DISABLED", 409),
        ("AGENT_RELEASE_SUSPENDED", 409),
        ("AGENT_RELEASE_UNPUBLISHED", 409),
        ("AGENT_DISABLED", 409),
        ("CAPABILITY_NOT_ALLOWED", 403),
    ],
)
async def test_a_refusal_of_the_control_plane_passes_on(router: LoneRouter, code: str, status: int) -> None:
    message = code_entries()[ErrorCode(code)].message
    router.plane.on_resolve = refusing(code, status, message=message)(router.plane)
    require_error(await router.dispatch(), status, code, "4")
    assert await router.recorded() == 0


@pytest.mark.rows("TOP-03", "TOP-04")
async def test_a_watched_change_drops_the_card_and_refuses(router: LoneRouter) -> None:
    assert (await router.dispatch()).status == 200
    assert (await router.dispatch()).status == 200
    assert len(router.plane.resolves) == 1
    for state, code in (
        ("suspended", "AGENT_RELEASE_SUSPENDED"),
        ("disabled", "AGENT_DISABLED"),
        ("revoked", "AGENT_RELEASE_REVOKED"),
    ):
        await router.plane.change(state)
        async with promptly(2):
            while (reply := await router.dispatch()).status == 200 or reply.code != code:
                pass
        require_error(reply, 409, code, "4")
    assert len(router.plane.resolves) == 1


@pytest.mark.rows("TMO-02", "TMO-03")
async def test_a_deadline_past_before_the_first_commit_is_recorded_as_such(lone: Lone) -> None:
    limits = {"timeoutMs": 50, "maxInputBytes": 1000, "maxOutputBytes": 1000, "streaming": True}
    async with lone(card={"limits": limits}) as router:
        router.plane.on_resolve = after(0.15, answering(router.plane.resolved()))
        body = router.plane.dispatch()
        reply = await router.dispatch(body)
        require_error(reply, 504, "TIMEOUT", "4")
        assert {name: reply.json[name] for name in ("invocationId", "rootTaskId", "traceId")} == {
            name: body[name] for name in ("invocationId", "rootTaskId", "traceId")
        }
        assert await router.types(body["invocationId"]) == ["created", "timed_out"]
        assert router.agent.received == []


@pytest.mark.rows("CAN-07")
async def test_a_caller_who_leaves_before_acceptance_leaves_no_trace(router: LoneRouter) -> None:
    release = asyncio.Event()
    left = asyncio.Event()

    async def resolving(request: Received) -> None:
        left.set()
        await release.wait()
        await answering(router.plane.resolved())(request)

    router.plane.on_resolve = resolving
    headers = ((b"authorization", f"Bearer {CONTROL_PLANE_TO_ROUTER}".encode()),)
    body = json.dumps(router.plane.dispatch()).encode()
    async with asking(router.unit, "/internal/v1/invocations", body, headers):
        await left.wait()
    await a_while(0.02)
    release.set()
    await asyncio.sleep(0.15)
    assert (await router.recorded(), router.agent.received) == (0, [])
