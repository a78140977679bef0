"""Why an Invocation failed is a fact of the Ledger: one word beside its code, kept by the store, in every read."""

import asyncpg
import msgspec

from aop.contracts.errors import ErrorCode, Reason, reason_pairs
from aop.contracts.lineage import EventType
from aop.ledger.model import SUCCEEDED, Terminal
from aop.ledger.read.record_filter import ListRead
from aop.local.state import DatabaseUrls
from tests.ledger.writing import SPACE, an_acceptance, an_end, breaches, reading, writing

_RULE = "reason IS NULL OR ledger.is_reason_of(error_code, reason)"
"""As ledger.is_event has it."""
_CODES = "SELECT prosrc FROM pg_proc WHERE oid = 'ledger.is_error_of'::regproc"
_PAIRS = "SELECT error_code, reason FROM unnest($1::text[]) AS error_code, unnest($2::text[]) AS reason WHERE {}"
TOO_MUCH_WORK = Terminal(EventType.FAILED, ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.SCHEMA_WORK)


async def test_the_constraint_of_the_store_allows_exactly_the_pairs_of_the_list(stores: DatabaseUrls) -> None:
    """Evaluated over every code and every word, so that neither list may grow without the other."""
    connection = await asyncpg.connect(stores.router)
    try:
        codes = await connection.fetchval(_CODES)
        words = [*Reason, "a word of nobody", None]
        rows = await connection.fetch(_PAIRS.format(_RULE), [*ErrorCode, None], words)
    finally:
        await connection.close()
    allowed = {(row["error_code"], row["reason"]) for row in rows}
    recorded = {code for code in ErrorCode if f"'{code}'" in codes}
    assert {pair for pair in allowed if pair[1] is not None} == {pair for pair in reason_pairs() if pair[0] in recorded}
    assert {code for code, reason in allowed if reason is None} == {*ErrorCode, None}


async def test_a_reason_is_recorded_with_its_terminal_and_shown_by_every_read(stores: DatabaseUrls) -> None:
    acceptance, other = an_acceptance(), an_acceptance()
    async with writing(stores.router) as written:
        assert await written.journal.end(an_end(await written.journal.accept(acceptance), TOO_MUCH_WORK))
        assert await written.journal.end(an_end(await written.journal.accept(other), SUCCEEDED))
    async with reading(stores.router) as lineage:
        detail = await lineage.detail(SPACE, acceptance.context.lineage.invocation)
        trace = await lineage.trace(SPACE, acceptance.context.lineage.trace)
        page = await lineage.page(ListRead(SPACE, 10))
        succeeded = await lineage.detail(SPACE, other.context.lineage.invocation)
    assert detail is not None
    assert trace is not None
    assert succeeded is not None
    error = detail.events[-1].error
    assert error is not msgspec.UNSET
    assert (error.code, error.reason) == (ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.SCHEMA_WORK)
    assert [record.reason for record in (detail.invocation, *trace.trace.invocations)] == [Reason.SCHEMA_WORK] * 2
    assert sorted(record.reason or "" for record in page.items) == ["", Reason.SCHEMA_WORK]
    assert (succeeded.invocation.reason, succeeded.events[-1].error) == (msgspec.UNSET, msgspec.UNSET)
    assert await breaches(stores.router) == []
