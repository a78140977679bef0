-- How often each Release was called, minute by minute, so that whoever wants to end one can see what depends on it. A checkpoint
-- adds the counts of what it settles: Invocations of its epoch from the checkpoint before it up to its own position. What no
-- checkpoint covers yet is counted in ledger.invocation itself. Everything here can be counted again from there.

CREATE TABLE ledger.release_calls (
    agent_release_id uuid NOT NULL,
    minute           timestamptz NOT NULL,
    router_id        text COLLATE "C" NOT NULL,
    epoch            bigint NOT NULL,
    position         bigint NOT NULL,
    calls            bigint NOT NULL CONSTRAINT release_calls_positive CHECK (calls > 0),
    CONSTRAINT release_calls_key PRIMARY KEY (agent_release_id, minute, router_id, epoch, position) INCLUDE (calls),
    CONSTRAINT release_calls_of_checkpoint FOREIGN KEY (router_id, epoch, position) REFERENCES ledger.checkpoint,
    CONSTRAINT release_calls_whole_minute CHECK (extract(second FROM minute) = 0)
);
COMMENT ON COLUMN ledger.release_calls.position IS 'that of the checkpoint which added the count';

-- The last day, which is as far as anybody looks back. The ids are ordered by time, so that older rows are not read.
INSERT INTO ledger.release_calls (agent_release_id, minute, router_id, epoch, position, calls)
SELECT invocation.agent_release_id, date_trunc('minute', invocation.created_at), settled.router_id, settled.epoch,
       settled.position, count(*)
  FROM (SELECT router_id, epoch, max(position) AS position FROM ledger.checkpoint GROUP BY router_id, epoch) AS settled
  JOIN ledger.invocation ON invocation.router_id = settled.router_id AND invocation.epoch = settled.epoch
   AND invocation.position < settled.position
 WHERE invocation.invocation_id >=
       rpad(lpad(to_hex((extract(epoch FROM now() - interval '25 hours') * 1000)::bigint), 12, '0'), 32, '0')::uuid
 GROUP BY 1, 2, 3, 4, 5;

CREATE TRIGGER release_calls_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.release_calls
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER release_calls_fenced AFTER INSERT ON ledger.release_calls REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.fence();
ALTER TABLE ledger.release_calls ENABLE ALWAYS TRIGGER release_calls_kept;
ALTER TABLE ledger.release_calls ENABLE ALWAYS TRIGGER release_calls_fenced;

GRANT SELECT, INSERT ON ledger.release_calls TO aop_router;
