-- Indexes of the lists: Traces by their roots, calls by how long they took, failures by code and by reason. Each answers one
-- filter or order of a list from its newest or slowest entry on, so that a page does not read what it does not show.
--
-- Calls that succeed have an entry in one of them, roots in one more; only failures have an entry in the two others.

CREATE INDEX invocation_roots ON ledger.invocation (workspace_id, created_at DESC, invocation_id DESC)
    WHERE parent_invocation_id IS NULL;
-- Negated, because the slowest come first and equal ones by id: one direction for both can go on behind a position.
CREATE INDEX event_by_latency ON ledger.event (workspace_id, (-latency_ms), invocation_id) WHERE type <> 'stream';
CREATE INDEX event_by_code ON ledger.event (workspace_id, error_code, created_at DESC, invocation_id DESC)
    WHERE error_code IS NOT NULL;
CREATE INDEX event_by_reason ON ledger.event (workspace_id, reason, created_at DESC, invocation_id DESC)
    WHERE reason IS NOT NULL;
