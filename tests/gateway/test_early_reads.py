"""The store is asked for the state of an Agent while the body of the call is checked; the checks keep their order."""

import asyncio
import gc
import json
from collections.abc import Iterator

import pytest

from tests.support.errors import require_error
from tests.support.units import Reply
from tests.support.workspaces import Owner, Rows

pytestmark = pytest.mark.second_ring

CALL = {"agentId": "acme:nobody", "capability": "c", "input": {}, "stream": False}
PROPER = json.dumps(CALL).encode()
# Each of them names an Agent, so that the store is asked before the fault is found.
BROKEN: list[tuple[bytes, tuple[str, str]]] = [
    (PROPER.replace(b"{}", b'{"a":1,"a":2}'), ("/input", "duplicate_member")),
    (PROPER.replace(b"{}", b'"\\ud800"'), ("/input", "surrogate")),
    (PROPER.replace(b"{}", b"[]"), ("/input", "type")),
    (PROPER.replace(b"{}", b"[" * 65 + b"]" * 65), ("", "depth")),
    (PROPER.replace(b'"c"', b'".c"'), ("/capability", "pattern")),
    (PROPER[:-1] + b',"traceId":"x"}', ("", "additional_member")),
    (PROPER[:-1] + b',"agentId":"acme:other"}', ("", "duplicate_member")),
]


@pytest.fixture
def silence(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nobody reports a failure that nobody waited for."""
    yield
    gc.collect()
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


async def invoke(caller: Owner, body: bytes, space: str = "space") -> Reply:
    return await caller.gateway.post(f"/v1/workspaces/{space}/invocations", body, token=caller.token)


def require_violation(reply: Reply, violation: tuple[str, str]) -> None:
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert [(item["pointer"], item["rule"]) for item in reply.json["violations"]] == [violation]


@pytest.mark.rows("INV-06")
@pytest.mark.parametrize(("body", "violation"), BROKEN)
@pytest.mark.usefixtures("silence")
async def test_a_malformed_body_is_refused_as_such_whatever_the_store_says(
    owner: Owner, bob: str, rows: Rows, body: bytes, violation: tuple[str, str]
) -> None:
    stranger = Owner(owner.gateway, bob)
    require_violation(await invoke(owner, body), violation)
    require_error(await invoke(owner, PROPER), 404, "AGENT_NOT_INSTALLED", "4", "not_installed")
    require_violation(await invoke(owner, body, "nowhere"), violation)
    require_error(await invoke(owner, PROPER, "nowhere"), 404, "NOT_FOUND", "4", "workspace_unknown")
    require_violation(await invoke(stranger, body), violation)
    require_error(await invoke(stranger, PROPER), 403, "FORBIDDEN", "4", "not_caller")
    await rows.execute("ALTER TABLE workspace.installation RENAME TO elsewhere")
    require_violation(await invoke(owner, body), violation)
    require_error(await invoke(owner, PROPER), 503, "DEPENDENCY_ERROR", "4", "store_unavailable")
    await rows.execute("ALTER TABLE workspace.elsewhere RENAME TO installation")
    require_error(await invoke(owner, PROPER), 404, "AGENT_NOT_INSTALLED", "4", "not_installed")


@pytest.mark.rows("INV-06")
@pytest.mark.usefixtures("silence")
async def test_a_name_that_is_no_agents_takes_nobody_elses_answer_away(owner: Owner) -> None:
    names = [f"acme:{number}\\u0000" for number in range(4)] + ["", "\\ud800", "x" * 129]
    bodies = [PROPER.replace(b"acme:nobody", name.encode()) for name in names]
    replies = await asyncio.gather(*(invoke(owner, body) for body in (*bodies, *[PROPER] * 8)))
    assert [reply.status for reply in replies] == [400] * len(names) + [404] * 8
    for reply in replies[len(names) :]:
        require_error(reply, 404, "AGENT_NOT_INSTALLED", "4", "not_installed")


@pytest.mark.usefixtures("silence")
async def test_a_long_body_is_checked_before_the_store_is_asked(owner: Owner, rows: Rows) -> None:
    long = PROPER.replace(b"{}", b'{"text":"%b"}' % (b"x" * 70_000))
    require_violation(await invoke(owner, long[:-1] + b',"traceId":"x"}'), ("", "additional_member"))
    require_error(await invoke(owner, long), 404, "AGENT_NOT_INSTALLED", "4", "not_installed")
    await rows.execute("ALTER TABLE workspace.installation RENAME TO elsewhere")
    require_violation(await invoke(owner, long[:-1] + b',"traceId":"x"}'), ("", "additional_member"))
    require_error(await invoke(owner, long), 503, "DEPENDENCY_ERROR", "4", "store_unavailable")
