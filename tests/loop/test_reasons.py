"""Reasons of the platform's own refusals, provoked on one running stack; and no reason of all is forgotten."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from aop.base.ids import new_id
from aop.contracts.errors import ErrorCode, Reason, code_entries
from tests.contracts.test_reasons import OPEN
from tests.loop import provocations
from tests.loop.bad_answers import FAILURES
from tests.loop.provocations import Scene
from tests.support.errors import require_error
from tests.support.loop import Platform
from tests.support.postgres import PostgresForTests
from tests.support.stream import streaming
from tests.support.streaming_agent import artifact, message, streamed, task
from tests.support.units import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")
TESTS = Path(__file__).resolve().parents[1]

Provoke = Callable[[Scene], Awaitable[Reply]]
PROVOKED: dict[tuple[ErrorCode, Reason], Provoke] = {
    (ErrorCode.CONFLICT, Reason.ALREADY_INSTALLED): provocations.already_installed,
    (ErrorCode.CONFLICT, Reason.ALREADY_EXISTS): provocations.already_exists,
    (ErrorCode.CONFLICT, Reason.STATE_CHANGED): provocations.state_changed,
    (ErrorCode.CONFLICT, Reason.INSTALLATION_STATE): provocations.installation_state,
    (ErrorCode.CONFLICT, Reason.CALLER_IS_OWNER): provocations.caller_is_owner,
    (ErrorCode.CONFLICT, Reason.CALLER_LIMIT): provocations.caller_limit,
    (ErrorCode.CONFLICT, Reason.NOT_NUMBERED_YET): provocations.not_numbered_yet,
    (ErrorCode.CONFLICT, Reason.PARENT_NOT_RUNNING): provocations.parent_not_running,
    (ErrorCode.CONFLICT, Reason.CARD_STATE): provocations.card_state,
    (ErrorCode.CONFLICT, Reason.BINDING_VERIFIED): provocations.binding_verified,
    (ErrorCode.CONFLICT, Reason.BINDING_FAILED): provocations.binding_failed,
    (ErrorCode.CONFLICT, Reason.BINDING_NOT_VERIFIED): provocations.binding_not_verified,
    (ErrorCode.CONFLICT, Reason.BINDING_EVIDENCE_CHANGED): provocations.binding_evidence_changed,
    (ErrorCode.CONFLICT, Reason.RELEASE_STATE): provocations.release_state,
    (ErrorCode.CONFLICT, Reason.AGENT_OF_OTHER_PROVIDER): provocations.agent_of_other_provider,
    (ErrorCode.NOT_FOUND, Reason.WORKSPACE_UNKNOWN): lambda scene: scene.in_space("", "nowhere"),
    (ErrorCode.NOT_FOUND, Reason.AGENT_UNKNOWN): provocations.agent_unknown,
    (ErrorCode.NOT_FOUND, Reason.VERSION_UNKNOWN): lambda scene: scene.get(
        f"/v1/agents/{scene.platform.card['agentId']}/versions/9.9.9"
    ),
    (ErrorCode.NOT_FOUND, Reason.VERSION_RANGE_EMPTY): provocations.version_range_empty,
    (ErrorCode.NOT_FOUND, Reason.PROVIDER_UNKNOWN): lambda scene: scene.get("/v1/providers/nobody/releases"),
    (ErrorCode.NOT_FOUND, Reason.BINDING_UNKNOWN): lambda scene: scene.get(
        f"{scene.provider.path}/endpoint-bindings/{new_id('bind')}"
    ),
    (ErrorCode.NOT_FOUND, Reason.CHALLENGE_UNKNOWN): provocations.challenge_unknown,
    (ErrorCode.NOT_FOUND, Reason.RELEASE_UNKNOWN): lambda scene: scene.get(f"/v1/releases/{new_id('rel')}"),
    (ErrorCode.NOT_FOUND, Reason.INSTALLATION_UNKNOWN): lambda scene: scene.in_space(
        f"/installations/{new_id('inst')}"
    ),
    (ErrorCode.NOT_FOUND, Reason.CALLER_UNKNOWN): provocations.caller_unknown,
    (ErrorCode.NOT_FOUND, Reason.INVOCATION_UNKNOWN): lambda scene: scene.in_space(f"/invocations/{new_id('inv')}"),
    (ErrorCode.NOT_FOUND, Reason.TRACE_UNKNOWN): lambda scene: scene.in_space(f"/traces/{'1' * 32}"),
    (ErrorCode.NOT_FOUND, Reason.ARCHIVED): provocations.archived,
    (ErrorCode.AGENT_NOT_INSTALLED, Reason.NOT_INSTALLED): lambda scene: scene.platform.invoke(agentId="acme:nobody"),
    (ErrorCode.CAPABILITY_NOT_ALLOWED, Reason.SKILL_UNKNOWN): lambda scene: scene.platform.invoke(capability="sing"),
    (ErrorCode.CAPABILITY_NOT_ALLOWED, Reason.PERMISSION_NOT_ACCEPTED): provocations.permission_not_accepted,
    (ErrorCode.FORBIDDEN, Reason.NOT_OWNER): provocations.not_owner,
    (ErrorCode.FORBIDDEN, Reason.NOT_CALLER): provocations.not_caller,
    (ErrorCode.FORBIDDEN, Reason.DEPTH_LIMIT): provocations.depth_limit,
    (ErrorCode.PAYLOAD_TOO_LARGE, Reason.BODY_SIZE): lambda scene: scene.platform.invoke(
        b'{"text":"%b"}' % (b"x" * 1_048_576)
    ),
    (ErrorCode.PAYLOAD_TOO_LARGE, Reason.INPUT_SIZE): provocations.input_size,
    (ErrorCode.DEPENDENCY_ERROR, Reason.STORE_UNAVAILABLE): provocations.store_unavailable,
    (ErrorCode.DEPENDENCY_ERROR, Reason.OUTCOME_UNKNOWN): provocations.outcome_unknown,
}


@pytest.mark.rows("REAS-01")
@pytest.mark.parametrize(("code", "reason"), PROVOKED)
async def test_a_refusal_says_why_in_its_word(
    platform: Platform, postgres: PostgresForTests, code: ErrorCode, reason: Reason
) -> None:
    reply = await PROVOKED[code, reason](Scene(platform, postgres))
    entry = code_entries()[code]
    require_error(reply, entry.status, code, max(entry.envelopes), reason)


IN_STREAMS: dict[Reason, tuple[Any, ...]] = {
    Reason.STREAM_ORDER: (task(), message(1)),
    Reason.ARTIFACT_ORDER: (task(), artifact(1, append=True)),
}


@pytest.mark.rows("REAS-01")
@pytest.mark.parametrize("reason", IN_STREAMS)
async def test_a_stream_in_a_wrong_order_says_so_in_its_terminal_its_event_and_its_record(
    platform: Platform, reason: Reason
) -> None:
    platform.agent.script(streamed(*IN_STREAMS[reason]))
    async with streaming(platform) as caller:
        error = (await caller.whole())["error"]
    assert (error["code"], error["reason"]) == (ErrorCode.A2A_PROTOCOL_ERROR, reason)
    detail = await platform.detail(error["invocationId"])
    assert detail["events"][-1]["error"] == error
    assert detail["invocation"]["reason"] == reason


async def test_every_reason_that_is_not_open_is_provoked_by_some_test_of_real_units() -> None:
    """Here, or in a file with this row: by an answer of an Agent, the end of a Router, a cut connection."""
    here = {*IN_STREAMS, *(reason for _, reason in (*PROVOKED, *FAILURES))}
    texts = [
        path.read_text("utf-8")
        for name in ("gateway", "loop", "router", "units")
        for path in (TESTS / name).glob("test_*.py")
    ]
    elsewhere = "".join(text for text in texts if '"REAS-01"' in text)
    assert {reason for reason in set(Reason) - here if f'"{reason}"' not in elsewhere} == OPEN
