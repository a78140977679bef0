"""Facts the store refuses by its own declarations, whoever inserts them and however they are spelled."""

import pytest

from tests.ledger.conftest import Target

pytestmark = pytest.mark.second_ring

_EVENT = (
    "INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status,"
    " previous_sequence, previous_chunk_index, previous_at, opening, trace_id, root_task_id, workspace_id, created_at,"
    " chunk_index, chunk_count, chunk_bytes, latency_ms, error_code, reason, router_id, epoch) SELECT {columns}"
    " FROM ledger.invocation LEFT JOIN ledger.event AS last ON last.invocation_id = invocation.invocation_id"
    " WHERE invocation.invocation_id = '{which}'"
)
_COLUMNS = {
    "invocation_id": "invocation.invocation_id",
    "sequence": "3",
    "event_id": "gen_random_uuid()",
    "occurred_at": "invocation.created_at",
    "type": "'succeeded'",
    "previous_status": "'running'",
    "previous_sequence": "NULL",
    "previous_chunk_index": "NULL",
    "previous_at": "NULL",
    "opening": "invocation.opening",
    "trace_id": "invocation.trace_id",
    "root_task_id": "invocation.root_task_id",
    "workspace_id": "invocation.workspace_id",
    "created_at": "invocation.created_at",
    "chunk_index": "NULL",
    "chunk_count": "NULL",
    "chunk_bytes": "NULL",
    "latency_ms": "0",
    "error_code": "NULL",
    "reason": "NULL",
    "router_id": "'{router}'",
    "epoch": "{epoch}",
}
_PROGRESS = {"type": "'stream'", "latency_ms": "NULL", "chunk_index": "0", "chunk_count": "1", "chunk_bytes": "1"}
_BEHIND = {
    "sequence": "4",
    "previous_sequence": "3",
    "previous_chunk_index": "2",
    "previous_at": "last.occurred_at",
    "occurred_at": "last.occurred_at",
    "latency_ms": "floor(extract(epoch FROM last.occurred_at - invocation.created_at) * 1000)",
}
_BETWEEN = dict.fromkeys(("opening", "trace_id", "workspace_id", "created_at"), "NULL")
_OTHER_ROOT = "(left({}root_task_id::text, 24) || right(gen_random_uuid()::text, 12))::uuid"
"""Of the same month."""


def event(which: str, **changes: str) -> str:
    columns = {**_COLUMNS, **changes}
    return _EVENT.replace("{columns}", ", ".join(columns.values())).replace("{which}", f"{{{which}}}")


ILLEGAL = {
    "a second terminal": event("finished", type="'canceled'", error_code="'CANCELED'", sequence="4"),
    "a terminal of the same place": event("finished"),
    "progress behind a terminal": event(
        "finished", **{**_PROGRESS, "sequence": "4", "previous_sequence": "3", "previous_chunk_index": "0"}
    ),
    "success from routing": event("running", opening="'routing'", sequence="2", previous_status="'routing'"),
    "failed from pending": event(
        "running", type="'failed'", error_code="'INTERNAL_ERROR'", previous_status="'pending'", sequence="1"
    ),
    "a status before it that is not so": event("running", previous_status="'routing'"),
    "an unknown type": event("running", type="'paused'"),
    "a gap": event("running", sequence="4"),
    "another opening": event("running", opening="'created'", sequence="1", previous_status="'pending'"),
    "another trace": event("running", trace_id="gen_random_uuid()"),
    "another root task": event("running", root_task_id="gen_random_uuid()"),
    "another Workspace": event("running", workspace_id="'other'"),
    "another creation time": event("running", created_at="invocation.created_at - interval '1 s'", latency_ms="1000"),
    "no context": event("running", **_BETWEEN),
    "a time before it was created": event(
        "running", occurred_at="invocation.created_at - interval '1 ms'", latency_ms="-1"
    ),
    "progress before it was created": event(
        "running", **{**_PROGRESS, "occurred_at": "invocation.created_at - interval '1 ms'"}
    ),
    "a wrong latency": event("running", latency_ms="1"),
    "no latency": event("running", latency_ms="NULL"),
    "success with a code": event("running", error_code="'INTERNAL_ERROR'"),
    "failed without a code": event("running", type="'failed'"),
    "failed with TIMEOUT": event("running", type="'failed'", error_code="'TIMEOUT'"),
    "failed with an unknown code": event("running", type="'failed'", error_code="'the text of an input'"),
    "success with a reason": event("running", reason="'schema_work'"),
    "progress with a reason": event("running", **{**_PROGRESS, "reason": "'schema_work'"}),
    "a reason of another code": event(
        "running", type="'failed'", error_code="'AGENT_UNAVAILABLE'", reason="'schema_work'"
    ),
    "an unknown reason": event(
        "running", type="'failed'", error_code="'DEPENDENCY_ERROR'", reason="'the text of an input'"
    ),
    "a reason of a code that has none": event(
        "running", type="'timed_out'", error_code="'TIMEOUT'", reason="'schema_work'"
    ),
    "timed_out with CANCELED": event("running", type="'timed_out'", error_code="'CANCELED'"),
    "canceled without a code": event("running", type="'canceled'"),
    "chunks on a terminal": event("running", chunk_index="0", chunk_count="1", chunk_bytes="1"),
    "progress without chunks": event("running", **{**_PROGRESS, "chunk_count": "NULL"}),
    "progress of no chunk": event("running", **{**_PROGRESS, "chunk_index": "-1", "chunk_count": "0"}),
    "chunkCount mismatch": event("running", **{**_PROGRESS, "chunk_index": "5"}),
    "chunkCount mismatch behind progress": event(
        "streaming", **{**_BEHIND, **_PROGRESS, **_BETWEEN, "chunk_index": "4"}
    ),
    "progress that repeats a chunk": event("streaming", **{**_BEHIND, **_PROGRESS, **_BETWEEN, "chunk_index": "2"}),
    "a terminal that skips progress": event("streaming", sequence="4"),
    "a terminal beside progress": event("streaming"),
    "a terminal behind progress with another Workspace": event("streaming", **{**_BEHIND, "workspace_id": "'other'"}),
    "a terminal behind progress without context": event("streaming", **{**_BEHIND, **_BETWEEN}),
    "a terminal before the progress it follows": event(
        "streaming", **{**_BEHIND, "occurred_at": "last.occurred_at - interval '1 ms'"}
    ),
    "a terminal behind progress at another time": event(
        "streaming", **{**_BEHIND, "previous_at": "last.occurred_at - interval '1 ms'"}
    ),
    "a terminal behind a chunk nobody recorded": event("streaming", **{**_BEHIND, "previous_chunk_index": "7"}),
    "an event of no Invocation": event("running", invocation_id="gen_random_uuid()"),
    "an event of an older epoch": event("running", epoch="{epoch} - 1"),
    "an event of an epoch to come": event("running", epoch="{epoch} + 1"),
    "an event of an unknown Router": event("running", router_id="'router-9'"),
    "an old epoch again": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', 1)",
    "an epoch that skips": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', {epoch} + 2)",
    "epoch 0": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('router-9', 0)",
    "closing the newest epoch": "INSERT INTO ledger.epoch_closed (router_id, epoch) VALUES ('{router}', {epoch})",
    "closing an unknown epoch": "INSERT INTO ledger.epoch_closed (router_id, epoch) VALUES ('router-9', 1)",
    "a checkpoint of an older epoch": "INSERT INTO ledger.checkpoint (router_id, epoch, position)"
    " VALUES ('{router}', {epoch} - 1, 5)",
    "a cancel request of an older epoch": "INSERT INTO ledger.cancel_request"
    " (invocation_id, root_task_id, router_id, epoch) SELECT invocation_id, root_task_id, '{router}', {epoch} - 1"
    " FROM ledger.invocation WHERE invocation_id = '{streaming}'",
    "a cancel request of no Invocation": "INSERT INTO ledger.cancel_request"
    " (invocation_id, root_task_id, router_id, epoch) SELECT gen_random_uuid(), root_task_id, '{router}', {epoch}"
    " FROM ledger.invocation WHERE invocation_id = '{streaming}'",
    "a function called in an older epoch": "SELECT ledger.request_cancel("
    "'{router}', {epoch} - 1, ARRAY['{streaming}']::uuid[])",
}


_CHILD = (
    "INSERT INTO ledger.invocation SELECT gen_random_uuid(), {columns}, agent_release_id, agent_card_digest,"
    " capability, router_id, epoch, position + 100, 'started', gen_random_uuid(), {created}, deadline_at"
    " FROM ledger.invocation WHERE invocation_id = '{{which}}'"
)
_CHILD_COLUMNS = {
    "root": "root_task_id",
    "trace": "trace_id",
    "parent": "invocation_id",
    "parent_opening": "opening",
    "parent_created": "created_at",
    "caller_type": "'agent'",
    "caller": "target_agent_id",
    "workspace": "workspace_id",
    "agent": "target_agent_id",
    "version": "agent_card_version",
}


def child(created: str = "created_at", **changes: str) -> str:
    columns = {**_CHILD_COLUMNS, **changes}
    return _CHILD.format(columns=", ".join(columns.values()), created=created).replace("{which}", "{running}")


CHILDREN = {
    "another trace": child(trace="gen_random_uuid()"),
    "another root task": child(root=_OTHER_ROOT.format("")),
    "another Workspace": child(workspace="'other'"),
    "a time before its parent started": child(created="created_at - interval '1 us'"),
    "a parent's time that is not so": child(
        created="created_at - interval '1 s'", parent_created="created_at - interval '2 s'"
    ),
    "a parent nobody knows": child(parent="gen_random_uuid()"),
    "a parent that never started": child(parent_opening="'routing'"),
    "a parent without its opening": child(parent_opening="NULL"),
    "a user as its caller": child(caller_type="'user'"),
    "an agent as caller of a root": child(parent="NULL", parent_opening="NULL", parent_created="NULL"),
    "a payload for a name": child(agent="repeat('x', 129)"),
}


@pytest.mark.rows("LED-04", "LED-06")
async def test_the_store_refuses_every_illegal_event_from_the_router_and_from_the_superuser(target: Target) -> None:
    for url in (target.stores.router, target.superuser):
        ends = await target.attempts(url, ILLEGAL)
        assert {name: code for name, code in ends.items() if code[:2] not in {"23", "P0", "AO"}} == {}


@pytest.mark.rows("NEST-16")
async def test_the_store_refuses_a_child_that_does_not_fit_its_parent(target: Target) -> None:
    for url in (target.stores.router, target.superuser):
        ends = await target.attempts(url, CHILDREN)
        assert {name: code for name, code in ends.items() if code[:2] != "23"} == {}


async def test_the_statements_the_illegal_ones_are_made_of_are_themselves_taken(target: Target) -> None:
    legal = {
        "terminal": event("running"),
        "progress": event("running", **_PROGRESS),
        "progress behind progress": event("streaming", **{**_BEHIND, **_PROGRESS, **_BETWEEN, "chunk_index": "3"}),
        "terminal behind progress": event("streaming", **_BEHIND),
        "child": child(),
    }
    assert await target.attempts(target.stores.router, legal) == dict.fromkeys(legal, "done")
